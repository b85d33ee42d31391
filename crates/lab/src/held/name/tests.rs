//! Names that are taken, answered at, and free.

use super::*;
use crate::held::client::ask;
use crate::held::message::Request;
use crate::held::status;
use std::os::unix::net::UnixStream;
use std::time::Duration;

#[test]
fn a_holder_is_known_by_its_socket_alone() {
    let sockets = "Num       RefCount Protocol Flags    Type St Inode Path\n\
        0000: 00000002 00000000 00000000 0001 01 111 @lab-building\n\
        0000: 00000002 00000000 00010000 0001 01 112 @lab-up\n\
        0000: 00000003 00000000 00000000 0001 03 113 @lab-up\n\
        0000: 00000003 00000000 00000000 0001 03 114 @lab-going\n\
        0000: 00000002 00000000 00010000 0001 01 115 lab-file\n\
        0000: 00000002 00000000 00000000 0002 01 116\n";
    let of = |name| stage_in(sockets, name);
    assert_eq!(of("lab-building"), Some(Stage::Building));
    assert_eq!(of("lab-up"), Some(Stage::Up));
    assert_eq!([of("lab-going"), of("lab-file"), of("lab")], [None; 3]);
}

/// Who asks too early is told so, once it has waited for as long as it would for an answer.
#[test]
fn a_lab_that_is_being_built_says_so() {
    let name = &format!("test-name-{}", std::process::id());
    assert!(matches!(status(name), Err(LabError::NoLab(_))));
    let taken = Name::take(name).expect("the name is free");
    let early = ask(name, &Request::Status, Duration::ZERO);
    assert!(matches!(early, Err(LabError::Building(_))));
    assert!(matches!(Name::take(name), Err(LabError::Building(_))));
    let listener = taken.answer().expect("it listens");
    let socket = address(name).expect("a good name");
    UnixStream::connect_addr(&socket).expect("it is answered at");
    listener.accept().expect("who connected is heard");
    assert!(matches!(Name::take(name), Err(LabError::Exists(_))));
    drop(listener);
    assert!(matches!(status(name), Err(LabError::NoLab(_))));
}
