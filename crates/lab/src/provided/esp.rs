//! Whether the kernel has IPsec ESP: asked by having it make one security association (xfrm(7) has
//! no manual page; the message is that of `linux/xfrm.h`).

use crate::tunnel;
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, netlink};
use v6gap_sys::Unavailable;

/// `XFRM_MSG_NEWSA`, and `NLM_F_REQUEST`, `NLM_F_ACK`, `NLM_F_EXCL` and `NLM_F_CREATE` together.
const NEW_ASSOCIATION: u16 = 0x10;
const FLAGS: u16 = 0x1 | 0x4 | 0x200 | 0x400;
/// `NLMSG_ERROR`, which an acknowledgement is as well.
const ERROR: u16 = 2;
/// Lengths of `nlmsghdr` and `xfrm_usersa_info`, in bytes.
const HEADER_BYTES: usize = 16;
const ASSOCIATION_BYTES: usize = 224;
/// `XFRMA_ALG_AEAD`, and AES-GCM with a check of 16 bytes (RFC 4106): 128 bits of key and 4 bytes
/// of salt.
const ALGORITHM_ATTRIBUTE: u16 = 18;
const ALGORITHM: &[u8] = b"rfc4106(gcm(aes))";
const KEY: [u8; 20] = [7; 20];

/// What helps, if anything does.
const LOAD: &str = "`sudo modprobe -a esp4 esp6 gcm` loads it where it is a module";

/// Whether tunnels can be protected by the kernel's ESP.
pub(super) fn available() -> Result<(), Unavailable> {
    let answer = tunnel::in_scratch(|| Ok(ask()));
    let because = answer.map_or_else(|why| why, without);
    Err(Unavailable::new("ipsec-esp", because))
}

/// What the kernel says to a security association.
fn ask() -> Result<(), Errno> {
    let socket = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, Some(netlink::XFRM))?;
    // Without an address it goes to the kernel.
    rustix::net::send(&socket, &association(), SendFlags::empty())?;
    let mut answer = [0; 4096];
    let (_, length) = rustix::net::recv(&socket, &mut answer, RecvFlags::empty())?;
    verdict(&answer[..length])
}

/// The error in an answer; 0 is none.
fn verdict(answer: &[u8]) -> Result<(), Errno> {
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    let code = answer.get(HEADER_BYTES..HEADER_BYTES + 4);
    let code = code.and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, code) {
        (Some(ERROR), Some(0)) => Ok(()),
        (Some(ERROR), Some(code)) => Err(Errno::from_raw_os_error(-code)),
        _ => Err(Errno::BADMSG),
    }
}

/// A request for an association in tunnel mode from 10.0.0.1 to 10.0.0.2 with AES-GCM.
fn association() -> Vec<u8> {
    let mut body = vec![0_u8; ASSOCIATION_BYTES];
    let mut put = |at: usize, bytes: &[u8]| body[at..at + bytes.len()].copy_from_slice(bytes);
    // `sel.family`; `id.daddr`, `id.spi` and `id.proto` (ESP, 50); `saddr`.
    put(40, &2_u16.to_ne_bytes());
    put(56, &[10, 0, 0, 2]);
    put(72, &0x100_u32.to_be_bytes());
    put(76, &[50]);
    put(80, &[10, 0, 0, 1]);
    // Limits of bytes and packets: none.
    put(96, &[0xff; 32]);
    // `family`, and `mode`: tunnel.
    put(212, &2_u16.to_ne_bytes());
    put(214, &[1]);
    let mut algorithm = vec![0_u8; 64];
    algorithm[..ALGORITHM.len()].copy_from_slice(ALGORITHM);
    algorithm.extend(160_u32.to_ne_bytes());
    algorithm.extend(128_u32.to_ne_bytes());
    algorithm.extend(KEY);
    body.extend((algorithm.len() as u16 + 4).to_ne_bytes());
    body.extend(ALGORITHM_ATTRIBUTE.to_ne_bytes());
    body.extend(algorithm);
    let mut message = ((HEADER_BYTES + body.len()) as u32).to_ne_bytes().to_vec();
    message.extend(NEW_ASSOCIATION.to_ne_bytes());
    message.extend(FLAGS.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    message
}

/// Why there is no ESP, by what the kernel said to an association.
fn without(answer: Result<(), Errno>) -> String {
    match answer {
        // Nothing is said to work that was never tried.
        Ok(()) => "this kernel has it, but v6gap does not lay such tunnels yet".to_owned(),
        Err(Errno::PROTONOSUPPORT) => {
            format!("this kernel has no ESP: {LOAD}")
        }
        Err(Errno::NOSYS) => {
            format!("this kernel has no AES-GCM for ESP: {LOAD}")
        }
        Err(error) => format!("the kernel refuses a security association: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_of_the_kernel_has_its_own_words() {
        let all = [Ok(()), Err(Errno::PROTONOSUPPORT), Err(Errno::NOSYS), Err(Errno::PERM)];
        let expected = ["does not lay", "no ESP", "no AES-GCM", "refuses"];
        for (said, expected) in all.map(without).iter().zip(expected) {
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn an_answer_is_read_and_junk_is_none() {
        let answer = |kind: u16, code: i32| {
            let mut answer = vec![0; 20];
            answer[4..6].copy_from_slice(&kind.to_ne_bytes());
            answer[16..].copy_from_slice(&code.to_ne_bytes());
            answer
        };
        assert_eq!(verdict(&answer(ERROR, 0)), Ok(()));
        assert_eq!(verdict(&answer(ERROR, -38)), Err(Errno::NOSYS));
        assert_eq!(verdict(&answer(3, 0)), Err(Errno::BADMSG));
        assert_eq!(verdict(&[0; 7]), Err(Errno::BADMSG));
    }

    #[test]
    fn the_request_has_the_kernel_s_lengths() {
        let message = association();
        assert_eq!(message.len(), 16 + 224 + 4 + 64 + 8 + 20);
        assert_eq!(message[..4], (message.len() as u32).to_ne_bytes());
    }
}
