//! Both ends of exchanges in one thread, in a lab: sockets here, and their peers in the server's
//! network, where this process may open some. The server has no part in it.

use super::{
    Asking, Proof, TrialError, create, datagram_proof, family, prove, stream_proof, waits,
};
use crate::hot::Tally;
use crate::hot::connect;
use crate::hot::stack::{self, Far, Pair};
use crate::trial::sockets::{
    Locals, accepted_options, datagram, datagram_waits, marks, payload, set_buffers,
    stream_options, stream_waits,
};
use std::cell::RefCell;
use std::net::SocketAddr;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::wire::datagram::End;
use v6gap_core::workload::{Impossible, Transport};
use v6gap_sys::placed::Bytes;
use v6gap_sys::socket::{Datagram, Listener, SocketError, Stream};

type Pairs<'a, S> = PerArm<Vec<Pair<'a, S>>>;

impl Asking<'_> {
    /// All turns, by this thread alone.
    pub(super) fn in_one_thread(
        &self,
        tallies: &mut PerArm<Tally>,
    ) -> Result<PerArm<Proof>, TrialError> {
        let Asking { task, echo, turns, watch, .. } = self;
        let tag = task.token.tag();
        let request = Bytes::zeroed(echo.message_bytes as usize);
        let far = Far::new(tag, request, payload(task, End::Server, echo.answer_bytes()));
        let memory = RefCell::new(far);
        let mut buffers = self.buffers(0, 0);
        match echo.transport {
            Transport::Tcp => {
                let pairs = self.connected(&memory)?;
                stack::streams(turns, tag, &pairs, &mut buffers, tallies, watch)
                    .map_err(|b| self.broken(b))?;
                let proofs = prove(task, &pairs, |_, pair| stream_proof(&pair.near))?;
                waits(task, &pairs, |pair| pair.near.linger_zero())?;
                Ok(proofs)
            }
            Transport::Udp => {
                let pairs = self.opposite(&memory)?;
                stack::datagrams(turns, tag, &pairs, &mut buffers, tallies, watch)
                    .map_err(|b| self.broken(b))?;
                prove(task, &pairs, |_, pair| datagram_proof(&pair.near, pair.near.peer()?))
            }
            Transport::Icmp => {
                let why = Impossible::Senseless("the kernel answers ICMP echoes");
                Err(TrialError::Unsuitable { number: task.number, why })
            }
        }
    }

    /// Connections of both arms, each with a listener of its own at the far end.
    fn connected<'m>(&self, memory: &'m RefCell<Far>) -> Result<Pairs<'m, Stream>, TrialError> {
        let Asking { task, echo, context, .. } = self;
        let accepted = accepted_options(&echo.settings);
        let listen = |arm| self.far(arm, |at| Listener::bind_with(at, echo.connections, &accepted));
        let listeners = PerArm { a: listen(Arm::A)?, b: listen(Arm::B)? };
        let options = stream_options(&echo.settings, &echo.marking);
        let mut locals = self.locals();
        let connect = |arm: Arm, _| {
            let (listener, locals): (_, &mut Locals) = (listeners.get(arm), locals.get_mut(arm));
            let failed = || TrialError::socket(family(task, arm), Some(*self.remotes.get(arm)));
            let remote = listener.local().map_err(failed())?;
            let timeout_ns = context.timeout_ns;
            let (near, _) = connect::next(remote, &options, timeout_ns, locals).map_err(failed())?;
            let far = listener.accept_timeout(timeout_ns).map_err(failed())?;
            let what = "connection at the far end";
            let far = far.ok_or(TrialError::Missing { family: family(task, arm), what })?;
            far.mark(&marks(&echo.marking)).map_err(failed())?;
            Ok(Pair { near, far, memory })
        };
        let pairs = create(task, echo.connections as u16, connect)?;
        let both = |pair: &Pair<'_, Stream>| {
            stream_waits(&pair.near, self.wait).and_then(|()| stream_waits(&pair.far, self.wait))
        };
        waits(task, &pairs, both)?;
        Ok(pairs)
    }

    /// UDP sockets of both arms, each with its peer at the far end, which answers whence it was
    /// asked, as a server's does.
    fn opposite<'m>(&self, memory: &'m RefCell<Far>) -> Result<Pairs<'m, Datagram>, TrialError> {
        let Asking { task, echo, .. } = self;
        let mut locals = self.locals();
        let open = |arm: Arm, _| {
            let failed = || TrialError::socket(family(task, arm), Some(*self.remotes.get(arm)));
            let far = self.far(arm, Datagram::bind)?;
            let remote = far.local().map_err(failed())?;
            let near = datagram(remote, &echo.marking, locals.get_mut(arm))?;
            let set = || {
                far.mark(&marks(&echo.marking))?;
                for socket in [&near, &far] {
                    echo.settings.buffer_bytes.map_or(Ok(()), |b| set_buffers(socket, b))?;
                    datagram_waits(socket, self.wait)?;
                }
                Ok(())
            };
            set().map_err(failed())?;
            Ok(Pair { near, far, memory })
        };
        create(task, echo.connections as u16, open)
    }

    /// What `open` makes of the server's address of an arm, at a port that the system chooses, in
    /// the server's network.
    fn far<S: Send>(
        &self,
        arm: Arm,
        open: impl FnOnce(SocketAddr) -> Result<S, SocketError> + Send,
    ) -> Result<S, TrialError> {
        let family = family(self.task, arm);
        let mut at = *self.remotes.get(arm);
        let missing = TrialError::Missing { family, what: "network of the server" };
        let network = self.context.far.as_ref().ok_or(missing)?;
        at.set_port(0);
        let opened = network.within(|| open(at)).map_err(TrialError::thread)?;
        opened.map_err(TrialError::socket(family, Some(at)))
    }
}
