//! Texts on how to read results and on the two protocols.

use super::Topic;

/// All topics.
pub const TOPICS: [Topic; 8] = [
    Topic {
        name: "verdicts",
        title: "worse, better, same, can't tell: how to read a result",
        text: "\
Every question has one of five answers.

  worse        IPv6 is worse. \"Clearly\" if even the kind end of the range is
               beyond the margin, otherwise \"perhaps too small to matter\".
  better       IPv6 is better, in the same sense.
  same         No difference that matters: whatever there is lies inside the
               margin. This is a finding, not the lack of one. Where the range
               shows that there is a difference all the same, tables say
               \"≈ within 2 %\", which is the margin; it counts as same.
  can't tell   The range holds both a difference that matters and none. More
               pairs would probably settle it; the result says about how
               many, or that no run of this kind would soon: then a larger
               margin does, or less noise.
  no verdict   A check failed, so the numbers compare something else than two
               protocols, or nothing could be measured. The reason is named.

In JSON can't tell is \"inconclusive\" and no verdict is \"none\".

The range is the 95 % range: so often it holds the true value. The margin is
what you choose to ignore (--margin); it is fixed before the run and printed
with the result. Directions are words: \"1.4 % slower\" is IPv6 against IPv4.

A second answer is about what remains after the longer header is taken off
(\"header size explains nearly all of it\"). See `v6gap explain headers` and
`v6gap predict`.

Where something failed or was lost, two more say over which family that happens
more often: \"worse: fails\", and of exchanges \"lost more often\". They count
rounds and have no margin.",
    },
    Topic {
        name: "headers",
        title: "the two IP headers, drawn to scale",
        text: "\
One row is 4 bytes. IPv4 (RFC 791), 20 bytes without options:

  ┌───────┬───────┬───────────┬───┬───────────────────────────────┐
  │Version│ Length│    DSCP   │ EC│          Total length         │
  ├───────┴───────┴───────────┴───┼─────┬─────────────────────────┤
  │         Identification        │Flags│     Fragment offset     │
  ├───────────────┬───────────────┼─────┴─────────────────────────┤
  │  Time to live │    Protocol   │        Header checksum        │
  ├───────────────┴───────────────┴───────────────────────────────┤
  │                    Source address, 32 bits                    │
  ├───────────────────────────────────────────────────────────────┤
  │                  Destination address, 32 bits                 │
  └───────────────────────────────────────────────────────────────┘

IPv6 (RFC 8200), always 40 bytes:

  ┌───────┬───────────────┬───────────────────────────────────────┐
  │Version│ Traffic class │               Flow label              │
  ├───────┴───────────────┴───────┬───────────────┬───────────────┤
  │         Payload length        │  Next header  │   Hop limit   │
  ├───────────────────────────────┴───────────────┴───────────────┤
  │                                                               │
  │                                                               │
  │                                                               │
  │                    Source address, 128 bits                   │
  │                                                               │
  │                                                               │
  │                                                               │
  ├───────────────────────────────────────────────────────────────┤
  │                                                               │
  │                                                               │
  │                                                               │
  │                 Destination address, 128 bits                 │
  │                                                               │
  │                                                               │
  │                                                               │
  └───────────────────────────────────────────────────────────────┘

The 20 bytes more are in every packet. A full packet of 1500 bytes carries
1448 bytes of TCP payload over IPv4 and 1428 over IPv6, both with timestamps:
1.4 % less, before anything goes wrong. The smaller the packet, the more the
20 bytes weigh. `v6gap predict` does the arithmetic for any size.",
    },
    Topic {
        name: "differences",
        title: "what differs between IPv4 and IPv6, field by field",
        text: "\
\x20                    IPv4                         IPv6
  Address            32 bits                      128 bits
  Header             20 to 60 bytes               40 bytes, always
  Options            in the header                in headers of their own
  Header checksum    yes, new at every router     none; layers above have one
  UDP checksum       may be left out              needed (RFC 8200, 8.1)
  Fragmentation      by sender and routers        by the sender alone, 8 more
                                                  bytes in each fragment
  Smallest MTU       68 bytes                     1280 bytes
  Path MTU           may be found                 must be found or 1280 kept
  Largest UDP        65507 bytes                  65527 bytes
  Flow label         none                         20 bits, for balancing
  Neighbours         ARP, broadcast               neighbour discovery,
                                                  ICMPv6, multicast
  Addresses of       DHCP                         router advertisements,
  hosts                                           DHCPv6, several at a time
  NAT                usual                        unusual

What this means for a comparison: the longer header costs the line a known
share; no header checksum saves routers work; NAT, tunnels and other routes
are properties of a path, not of a protocol. v6gap names what it saw of them.",
    },
    Topic {
        name: "families",
        title: "what makes a measurement IPv4 or IPv6",
        text: "\
A family is IPv4 or IPv6. Measuring sockets are of one family for certain:
AF_INET, or AF_INET6 that carries IPv6 alone. An IPv4 address in IPv6 form
(::ffff:192.0.2.1) is refused, because such a socket says IPv6 and sends IPv4.

Both ends report the addresses of their own sockets, and the kernel's counters
of each family must have moved by what was sent. That is the proof of family;
without it there is no verdict.",
    },
    Topic {
        name: "words",
        title: "the words that results and plans use",
        text: "\
\x20 family      IPv4 or IPv6
  arm         what is compared inside a block: the two families, or in a null
              block the same family twice
  exchange    one request and its answer
  trial       one run of one arm
  block       the two arms next to each other in time
  round       one block, or several, of every cell that is still open
  pair        what a cell's blocks in one round say together: ranges rest on it
  run         all rounds, stored under an identifier like 7k2f9q
  gate        a condition that makes a block invalid
  caveat      a reason for doubt that travels with a value
  margin      differences below it do not matter
  verdict     worse, better, same, can't tell, none
  null block  a family against itself: what differs is the instrument's own
  world       the network of a lab: hosts, links and their conditions
  wire model  what the headers alone predict",
    },
    Topic {
        name: "margins",
        title: "which differences are too small to matter",
        text: "\
\x20 throughput  2 %          --margin throughput=2%
  rtt         5 %          --margin rtt=5%
  connect     5 %          --margin connect=5%
  loss        0.1 percentage points, --margin loss=0.1pp

Of all others rates have 2 %, times and processor time 5 %, delay variation and
lateness of frames 10 %, and shares 0.1 percentage points.

Margins are fixed before a run, stored with it and printed with every result.
The second answer, on what the longer header does not explain, uses narrower
ones: 0.5 % for rates, 2 % for times.",
    },
    Topic {
        name: "models",
        title: "the kinds of links that a lab can have",
        text: "\
\x20 bare      a virtual cable without a rate: what the protocol stack costs
  shaped    a token bucket in the kernel with exact Ethernet framing: true
            rates and queues; round trips are not measured on it
  wire      a link in user space that serialises each frame: true rates and
            true round trips, at the price of one processor
  netem     as shaped, with delay and loss by the kernel, where it has that
            (`v6gap lab list --kinds`)

The model is named with every figure. Before a lab run the links are tested
against arithmetic for some seconds; a figure whose test fails is refused.",
    },
    Topic {
        name: "exit-codes",
        title: "what the exit codes of v6gap say",
        text: "\
\x20   0  done, whatever the verdict
    1  something unexpected: a full disk, a defect
    2  usage, plan file, bad address
    3  one family cannot be measured
    4  the other end: not running, busy, too old, lost; this host: busy (E204)
    5  permission
    6  measured but not valid: a check failed or no question could be answered
    7  the other end is asked for no more: it says so, or had enough (E214)
   10  --require or --fail-if is not met
   11  --require could not be decided
  130  interrupted; what was complete is kept

A condition is a verdict (better, worse, same), or one of something by its name:
worse:rtt or of another metric; worse:failures, if more attempts and connections
of IPv6 fail; worse:lost-exchanges, if more requests over UDP or ICMP get no
answer. Without a name it is about all questions and failures, and an answer
that may be chance among so many is open, as in the sentence that sums up the
run. Who requires same is also content with better. Of a probe --fail-if broken
is met by a family that does not work at all.",
    },
];
