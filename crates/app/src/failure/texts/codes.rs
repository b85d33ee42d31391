//! Texts on the codes that errors end with.

use super::Topic;

/// All codes, in order.
pub const CODES: &[Topic] = &[
    Topic {
        name: "E101",
        title: "no route in one family",
        text: "\
The kernel has no route to the server in one of the families, so nothing was
sent. Usually the interface has no global address: for IPv6, only fe80::.

Look at `ip -6 addr` and `ip -6 route`. A default route over IPv6 comes from
router advertisements; a firewall that drops ICMPv6 takes it away again after
some minutes. Without a route there is nothing to compare: -4 or -6 measures
the other family alone, `v6gap demo` compares both on this computer.",
    },
    Topic {
        name: "E102",
        title: "a name lacks an address of one family",
        text: "\
DNS has an A record for the name and no AAAA record, or the other way round, or
an address was given. A server of v6gap is then asked for its other address,
and what it tells is taken if it proves to lead to the same server. It tells
those of `serve --announce` or, without any, those of its host; with --public
alone none, nor where it listens on one family only. If the host does have an
address of that family, give it with --v4 or --v6: both must lead to the same
server.",
    },
    Topic {
        name: "E103",
        title: "an unknown name",
        text: "\
The system's resolver knows no address for the name in either family. Names of
the local network (.local) need a resolver that knows them. --v4 and --v6 give
the addresses without any name.",
    },
    Topic {
        name: "E104",
        title: "a link-local address without its interface",
        text: "\
Addresses in fe80::/10 exist on every link; which link is meant must be said
behind a %: fe80::1%eth0. `ip -6 addr` shows the interfaces.",
    },
    Topic {
        name: "E106",
        title: "an address that cannot be measured",
        text: "\
The text is no address, is of the other family, or is IPv4 in IPv6 form
(::ffff:192.0.2.1). The last would measure IPv4 under the name of IPv6.",
    },
    Topic {
        name: "E107",
        title: "an address that this computer does not have",
        text: "\
--bind (-B) names the address of this computer to measure from, one of each
family at most: both control and data go from there. It must be an address of
one of its interfaces; `ip addr` shows them.",
    },
    Topic {
        name: "E108",
        title: "an empty key",
        text: "\
The key that was given is empty: a variable that is not set (--key \"$UNSET\"),
V6GAP_KEY with nothing in it, or a key file whose first line is empty. Everybody
knows an empty key, so it is never taken for one. Leave the option out, unset
V6GAP_KEY, or make a key: v6gap serve --new-key FILE.

A file of pinned keys begins with the line `v6gap pinned keys` and has one line
`private KEY` and one `peer NAME PUBLIC-KEY` for each other end; keys have 64
hexadecimal digits, and # begins a remark.",
    },
    Topic {
        name: "E109",
        title: "a key too weak for a server that all can reach",
        text: "\
With a key and without --allow, a server can be reached from everywhere, so the
key is all that guards it. It must have 16 bytes at least, and with --public
nobody else may read or change its file (chmod 600 FILE). Short words are found
by trying, also later and elsewhere by who has recorded one connection.
`v6gap serve --new-key FILE` makes a key of 128 random bits; with --allow NET
for private networks a short one is taken with a warning.",
    },
    Topic {
        name: "E110",
        title: "a key file that cannot be made",
        text: "\
--new-key makes a file and never touches one that is there, nor what a link
leads to: the key in it may be in use. Name another file, or remove that one.",
    },
    Topic {
        name: "E111",
        title: "a port that cannot be listened on",
        text: "\
Another program listens on the port already, most often a second `v6gap serve`
or `v6gap web`, or the address is none of this computer, or the port is below
1024, which wants a privilege. The message ends with the system's words; -p
takes another port, which clients must be told too.",
    },
    Topic {
        name: "E201",
        title: "no server answers",
        text: "\
The computer is up and refuses connections on the port: no v6gap serves there,
or it uses another port (-p). Start `v6gap serve` on that host. One port, 4466,
must be open for TCP and UDP.",
    },
    Topic {
        name: "E202",
        title: "the server answers over one family only",
        text: "\
Over one family the server greeted, over the other the connection was refused.
Either the server listens on one family only (--listen), or a firewall refuses
the other. On the server, `ss -ltn 'sport = 4466'` must list both 0.0.0.0:4466
and [::]:4466, as v6gap opens a socket for each.",
    },
    Topic {
        name: "E203",
        title: "no answer in time",
        text: "\
Nothing came back, not even a refusal. That is what a firewall that drops
packets looks like; firewalls have separate rules for IPv4 and IPv6. Port 4466
must be open for TCP and UDP in both families. --connect-timeout waits longer.",
    },
    Topic {
        name: "E204",
        title: "the server, or this host, is being measured",
        text: "\
A host is measured once at a time, because two measurements would disturb each
other. A server keeps others in a queue and tells them their place; who measures
from a host that is being measured waits, and is told for whom. With --no-wait
v6gap ends at once instead.

That holds for all users of a host: whoever measures makes a file of the name
v6gap-claim-… in /run/lock or, where that is not open to all, in /tmp, and has
it locked until the end. `run` and `serve` share the host where both are on it.
Labs share it if the processes have no processor in common: taskset -c 0,1
v6gap demo, and taskset -c 2,3 v6gap demo. V6GAP_LOCKS names another folder, as
one that containers of a host share; the result tells that one was named.",
    },
    Topic {
        name: "E205",
        title: "program and server are too far apart in version",
        text: "\
Both ends tell which versions of the protocol they speak, and the server names
the workloads and options that it knows. There is no version in common, or the
measurement needs something that the server does not know; it would leave that
out without a word. Update the older end.",
    },
    Topic {
        name: "E206",
        title: "something else listens on the port",
        text: "\
The connection was accepted, but what came back is not v6gap's greeting: the
port belongs to another program, such as iperf3 on 5201. v6gap needs its own
server at the other end, which proves the family of each flow there; with
--against iperf3 it measures against that of iperf3, and sees half as much.",
    },
    Topic {
        name: "E207",
        title: "the key does not fit",
        text: "\
The server was started with a key and this end has another one or none, or the
other way round. Give both ends the same long random word: --key-file FILE,
the variable V6GAP_KEY, or --key WORD, which others on the same computer can
read in the list of processes. `v6gap serve --new-key FILE` makes such a word.

With pinned keys (`--new-key FILE --pinned`) each end's file has a private key
and a line `peer NAME PUBLIC-KEY` for each host that it measures with. Such a
line is missing or old where a key is that of no peer, or another host answers:
add a key only if whoever runs that host says that it is its own.",
    },
    Topic {
        name: "E208",
        title: "the server turned this computer away",
        text: "\
The server closed the connection without a word. Without a key a server serves
loopback, link-local and private addresses only. On the server, --allow NET
names further networks, --key-file FILE admits everybody who knows the word in
it, and --public admits everybody.",
    },
    Topic {
        name: "E209",
        title: "the server refused the measurement",
        text: "\
The server gave its reason. It enforces limits on time, rate and bytes that it
tells in the handshake; `v6gap check HOST` shows them.",
    },
    Topic {
        name: "E210",
        title: "the connection was lost",
        text: "\
The control connection ended before the measurement was complete. Blocks that
were complete are stored; `v6gap run HOST --continue last` goes on from there.",
    },
    Topic {
        name: "E211",
        title: "a measurement failed",
        text: "\
A trial failed again and again and nothing else was left to measure, or the
server refused it for good. The message ends with the reason. What was measured
before is kept, and `v6gap run HOST --continue RESULT` goes on with it; `v6gap
check HOST` says what the server allows, --measure leaves out what fails.",
    },
    Topic {
        name: "E212",
        title: "the session's time is over",
        text: "\
The server lets each client measure for a time only, so that others have their
turn; `v6gap check HOST` shows how long. Blocks that were complete are stored,
and `v6gap run HOST --continue RESULT` goes on with them in a new session, as
often as it takes. --for TIME asks for a run that fits one session.",
    },
    Topic {
        name: "E213",
        title: "too many clients from this network",
        text: "\
A server holds few connections from one IPv4 address or IPv6 /64, and twice as
many from a /24 or /48, so that nobody can keep all others out. Others of this
network measure or wait there; try again later. `--max-per-source` of
`v6gap serve` raises the number.",
    },
    Topic {
        name: "E214",
        title: "the host is asked for no more",
        text: "\
A host that does not run v6gap is a stranger's: no more than 150 connections and
4 MiB, besides downloads, are asked of it in a run, and nothing more once it
answers 429 or 503.
What was measured before is kept. --mine says that the host is your own, which
lifts the counts but not the rates; fewer --pairs or versions of HTTP need
less.",
    },
    Topic {
        name: "E215",
        title: "the server of another tool does not do its part",
        text: "\
With --against a short test over each family comes before anything is measured.
A server of iperf3 takes one client at a time (v6gap waits for it up to a
minute, with --no-wait 1 s, and ends with E204 then) and listens on port 5201
unless -p names another one. One that was started with -4, -6 or -B answers over
one family only: start it without them. A server that wants a password is not
spoken to.",
    },
    Topic {
        name: "E216",
        title: "a host cannot be reached by ssh",
        text: "\
--via ssh calls the system's ssh, whose configuration, keys and open connections
hold: `ssh USER@HOST true` must work. V6GAP_SSH names another program.",
    },
    Topic {
        name: "E217",
        title: "ssh is not let in",
        text: "\
The host does not take the user's keys or password, or its own key is not the
one that is known of it. `ssh USER@HOST true` says more. A password is asked for
once; where connections cannot be shared, only keys will do.",
    },
    Topic {
        name: "E218",
        title: "no program for a host",
        text: "\
--via ssh brings this program to hosts of its own kernel and architecture. For
others --remote-binary names one, as `cargo xtask dist` makes it; a static one
also runs where the system's libraries are older. Folders that are mounted
noexec run none.",
    },
    Topic {
        name: "E219",
        title: "the program cannot be copied to a host",
        text: "\
It is written to ~/.cache/v6gap/bin there, its hash is computed there by
sha256sum, shasum or sha256, and only then it gets the name by which it is run.
What is not whole is removed. The user's disk may be full, or its folder may not
be written to.",
    },
    Topic {
        name: "E220",
        title: "the connection to a host was lost",
        text: "\
What ran there ends with its connection, after the present block. What was
measured until then is fetched over another connection; where that fails, too,
the message says where it is and how it is fetched.",
    },
    Topic {
        name: "E221",
        title: "a host holds results that were not fetched",
        text: "\
Each run by ssh stores in a folder of its own below ~/.cache/v6gap/jobs, which
is removed when the result was fetched. --forget removes none that was not: look
at them, or remove the folder by hand.",
    },
    Topic {
        name: "E222",
        title: "a measurement by ssh took too long",
        text: "\
What measures by --via ssh may take twice its time and three minutes more, to
connect, to look at the path and to analyse. It is stopped after its present
block then. What was measured until then is fetched and kept.",
    },
    Topic {
        name: "E301",
        title: "network namespaces are refused",
        text: "\
A network on this computer is made of network namespaces. Most systems let
ordinary users make them inside a user namespace; this one does not. Debian:
sysctl kernel.unprivileged_userns_clone=1. Ubuntu:
sysctl kernel.apparmor_restrict_unprivileged_userns=0. In a container: the
capabilities NET_ADMIN and SYS_ADMIN. Or run it with sudo. Measuring between
two hosts (serve, run, check) needs no privileges.",
    },
    Topic {
        name: "E302",
        title: "capturing is not permitted",
        text: "\
--capture listens along at the interfaces, which the system lets only
privileged programs do: on Linux those with the capability CAP_NET_RAW. Give
it to this program once (setcap), or run it with sudo. In a lab of this
program's own no privilege is needed: v6gap demo --capture. Nothing was sent;
measuring without --capture needs no privilege either.",
    },
    Topic {
        name: "E303",
        title: "a switch or router cannot be read",
        text: "\
--snmp reads counters of a managed device before and after each trial. It must
answer SNMP v2c (--snmp-community) or v3 (--snmp-user, with its keys in
V6GAP_SNMP_AUTH_KEY and V6GAP_SNMP_PRIV_KEY) on UDP port 161, and let this
computer read interfaces, ip, tcp, udp and dot3. `snmpwalk -v2c -c WORD HOST
1.3.6.1.2.1.2` shows whether it does. A router of the lab needs the program
snmpd on this computer (Debian: apt-get install snmpd).",
    },
    Topic {
        name: "E304",
        title: "this host does not provide what the world asks for",
        text: "\
Translation and some kinds of tunnels need a program, and some tunnels and links
a kernel that was built with them. `v6gap lab list --kinds` says for each
whether this host has it, and if not, why and how to get it. It is found out by
trying, before anything is sent. The link model `wire` needs nothing but
namespaces.",
    },
    Topic {
        name: "E305",
        title: "the emulated system did not come up",
        text: "\
A node of a world may be another system, whose kernel QEMU emulates. It has 60 s
to load its modules, take its addresses and serve; what it said last stands
above. It must be a Linux kernel for this computer's kind of processor with the
drivers virtio_pci and virtio_net, as modules (.ko, not compressed) or built in,
and it must be able to run this program: Debian's linux-image-cloud-amd64 is
one. --kernel FOLDER names a folder with another. On a computer that is busy it
may only have been too slow.",
    },
    Topic {
        name: "E306",
        title: "a page asked for more than 10 GB",
        text: "\
Whatever a page of `v6gap web` asks for is estimated first, by the rate of the
last result to the same host or of the lab, otherwise 100 Mbit/s. More than
10 GB is sent only if it was confirmed: the page says how much and asks, and a
script sends \"confirm\": true. In the terminal: --dry-run says how much.",
    },
    Topic {
        name: "E307",
        title: "a page asked for a longer measurement than allowed",
        text: "\
The server of the pages was started with --max-time, and what was asked for may
take longer. A shorter one (--for, --quick, a smaller --scale) is allowed, and
the terminal has no such limit.",
    },
    Topic {
        name: "E308",
        title: "a page asked for a higher rate than allowed",
        text: "\
The server of the pages was started with --max-rate, and what was asked for may
send faster over a network. A rate for UDP (--bitrate) and for TCP (--fq-rate)
of at most that is allowed, as are round trips, connections and labs; the
terminal has no such limit.",
    },
    Topic {
        name: "E309",
        title: "a page of another computer asked to visit a host",
        text: "\
`v6gap probe` connects to whatever host and port it is told. A page may ask for
that only on the computer that serves it, by the name localhost or an address of
loopback: for others, also behind a proxy, this computer would be a way past
firewalls. The terminal has no such limit: v6gap probe HOST.",
    },
    Topic {
        name: "E310",
        title: "a lab that cannot be made or used",
        text: "\
No lab of that name is up, one is up already or is being built, it has no such
host, it could not be made, or another version of the program holds it; the
message says which. A lab that is up holds senders to the rate of \"wire\" links
at its hosts and at the ends that it was made for. At its other routers nothing
does, so round trips, connecting and lookups alone are measured there.
`v6gap lab list` shows the labs that are up and `v6gap lab status` what is in
one; `v6gap lab up` makes one and `v6gap lab down` takes it down.",
    },
    Topic {
        name: "E401",
        title: "large packets of one family vanish",
        text: "\
Small packets pass and large ones do not, and no ICMP message tells why: a
path MTU black hole (RFC 2923). A link has a smaller MTU, and a firewall drops
the message that would say so: \"packet too big\" (ICMPv6 type 2), without which
IPv6 cannot work, as routers do not fragment it; or \"fragmentation needed\"
(ICMP type 3 code 4). Allow them along the path.",
    },
    Topic {
        name: "E402",
        title: "UDP does not come through",
        text: "\
The control connection and TCP pass, but no datagram came back within 2.5 s, not
even the answer to the shortest one. A firewall on either host or between them
drops UDP, or knows nothing of the port: the server needs its port (4466 unless
told otherwise) open for TCP and for UDP. Runs that also ask what goes over TCP
answer that, and say of each other question why it has no answer.",
    },
    Topic {
        name: "E403",
        title: "a family does not work at this host",
        text: "\
A first visit over each family came before anything was measured, and over one
of them (exit code 3) or both (4) it failed; the message says how: no address
(perhaps because the name server does not answer for it), no route, refused, no
answer, prohibited, TLS, wrong site, an answer of 500 or above, or a visit that
stalls after so many bytes, as where large packets vanish on the way (E401).
Programs that try both families hide this from their users by waiting; those
that try one do not work.",
    },
    Topic {
        name: "E501",
        title: "a plan file has problems",
        text: "\
Every problem is shown with its line; all of them at once. Unknown keys are
errors, so that a slip is not silently ignored. `v6gap plan show first-look`
prints a plan to begin with; `v6gap plan check FILE` explains one.",
    },
    Topic {
        name: "E502",
        title: "no stored result matches",
        text: "\
Results are named by their identifier or the beginning of it, by last, last~1
(the one before), last:HOST, or by a journal file. `v6gap list` shows them.
They lie in $XDG_DATA_HOME/v6gap or ~/.local/share/v6gap; the variable
V6GAP_DATA names another folder.",
    },
    Topic {
        name: "E503",
        title: "several stored results match",
        text: "\
The beginning of an identifier fits more than one result. Type more of it.",
    },
    Topic {
        name: "E504",
        title: "a stored result cannot be read",
        text: "\
A line of the journal is not a record, or was written by a later version of
the program. A line that a crash left unfinished is not this: it is left out.",
    },
    Topic {
        name: "E505",
        title: "something is being written to",
        text: "\
Another v6gap is adding to the result, to the archive, or to the log of the
watch: there is one watch in a folder of results at a time. What is there can
be shown and exported meanwhile, but not removed or continued.",
    },
    Topic {
        name: "E506",
        title: "no folder for results is known",
        text: "\
None of V6GAP_DATA, XDG_DATA_HOME and HOME is set, as in some services. Set
one of them.",
    },
    Topic {
        name: "E507",
        title: "a file is not there",
        text: "\
The file named in the message does not exist. Plans that come with the program
are named without a path: `v6gap plan list`.",
    },
    Topic {
        name: "E508",
        title: "a file may not be read or written",
        text: "\
The system does not permit it. V6GAP_DATA names another folder for results.",
    },
    Topic {
        name: "E509",
        title: "the system refused an operation on a file",
        text: "\
The message ends with the system's words; a full disk is the usual cause. What
was complete before is kept.",
    },
    Topic {
        name: "E510",
        title: "no plan is called that",
        text: "\
`v6gap plan list` shows the plans that come with the program. A file is named
with its ending: my.toml.",
    },
    Topic {
        name: "E511",
        title: "no world is called that",
        text: "\
`v6gap lab list --worlds` shows the worlds that come with the program, and
`v6gap lab list` the labs that are up. A file is named with its ending: my.toml.",
    },
    Topic {
        name: "E512",
        title: "what is to be imported is no journal",
        text: "\
`v6gap import` takes what `v6gap export RESULT -o FILE` writes, which is the
journal of a run, or the folder of a run. CSV, JSON and Parquet hold what the
program says of a run and cannot be turned back into one.",
    },
    Topic {
        name: "E513",
        title: "another result has the same identifier",
        text: "\
A result keeps its identifier when it is imported, and one with other trials is
stored under it: the same run that was continued in two places, or, once in a
thousand million, another run. A later state of the stored one is added to it,
an earlier one is in it. `v6gap rm` removes the stored one.",
    },
    Topic {
        name: "E514",
        title: "a file that is not read",
        text: "\
Results, plans and worlds are read from files and pipes, up to a length that
none of them has: 2 GiB of a result, 16 MiB of one of its lines, 1 MiB of a
plan or world. A device could go on for ever, and a pipe from which nothing
comes for 30 s is given up. In the folder for results links are not followed,
so that nothing outside of it is read, changed or removed.",
    },
    Topic {
        name: "N105",
        title: "note: a family is translated on the way",
        text: "\
An address of NAT64 (RFC 6052) or 464XLAT (RFC 7335) is used: what is called
IPv4 or IPv6 here is the other family on a part of the path. What is compared
is the translation with the native family, and the result says so wherever it
names them.",
    },
    Topic {
        name: "N402",
        title: "note: a smaller window than asked for",
        text: "\
The kernel grants receive buffers up to net.core.rmem_max (twice that is
reported, as it counts its bookkeeping). The measurement used what was granted,
and the result says what that was. `sysctl -w net.core.rmem_max=BYTES` raises
it; `require_window = true` in a plan makes such a trial an error.",
    },
    Topic {
        name: "N403",
        title: "note: as fast as the server allows",
        text: "\
The server announces a highest rate, or a number of bytes for each trial, and
the throughput of at least one family came within 5 % of it. The path carries
more, nobody knows how much in which family, so the question has no verdict;
round trips and connecting are compared all the same. `v6gap check HOST` shows
the limits; `v6gap serve --max-rate RATE` on the server sets others.",
    },
    Topic {
        name: "V601",
        title: "no verdict: a check failed",
        text: "\
What was measured is kept, but it does not compare two protocols: the check
that the message names failed. `v6gap report last` lists all checks. Typical
are a family that was not proved, a family that differs from itself (the null
blocks), or two families that took different interfaces: choose addresses of
one interface with `--bind ADDR --bind ADDR`, or compare two links on purpose
with `--allow-different-links` (in a plan `different_links = true` under
`[design]`).",
    },
    Topic {
        name: "V602",
        title: "results that cannot be compared",
        text: "\
A comparison needs questions that the results share: the same workload with the
same factors, and the same two families. The message says in what they differ.
Run one plan for both: `v6gap plan run FILE`, or repeat the command at the end
of a report. Cells that only some results have are left out and named; a cell
whose factors differ is not compared, because the change would be that of the
factor. A picture of several systems needs results of one plan of a study.",
    },
    Topic {
        name: "V603",
        title: "nothing to draw",
        text: "\
Figures show pairs in the order of time, sizes beside each other and how single
delays spread. A result without a pair that counts has none of these.",
    },
];
