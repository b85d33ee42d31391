//! A reader of pcapng of its own, written from the format's description and not from the crate that
//! writes, and strict: what does not fit is a failure. Little-endian files only.

/// One section of a file.
#[derive(Debug, Default)]
pub struct Section {
    pub comment: String,
    pub application: String,
    pub interfaces: Vec<Interface>,
    /// Addresses as bytes, and their names.
    pub names: Vec<(Vec<u8>, String)>,
    pub packets: Vec<Packet>,
    /// Frames that were counted and frames that were lost, by interface.
    pub statistics: Vec<(u32, u64, u64)>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Interface {
    pub link: u16,
    pub snap: u32,
    pub name: String,
    pub filter: String,
    pub system: String,
    /// Negative power of ten.
    pub resolution: u8,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Packet {
    pub interface: u32,
    pub ticks: u64,
    pub length: u32,
    pub bytes: Vec<u8>,
    pub flags: u32,
}

/// All sections of a file.
pub fn read(file: &[u8]) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut rest = file;
    while !rest.is_empty() {
        let (kind, length) = (word(rest, 0), word(rest, 4) as usize);
        assert!(length >= 12 && length % 4 == 0, "a block of {length} bytes");
        assert_eq!(word(rest, length - 4) as usize, length, "the two lengths differ");
        let body = &rest[8..length - 4];
        rest = &rest[length..];
        if kind == 0x0a0d_0d0a {
            sections.push(section(body));
            continue;
        }
        let section = sections.last_mut().expect("a file begins with a section");
        match kind {
            1 => section.interfaces.push(interface(body)),
            4 => names(body, &mut section.names),
            5 => section.statistics.push(statistics(body)),
            6 => {
                let packet = packet(body);
                assert!((packet.interface as usize) < section.interfaces.len(), "{packet:?}");
                assert!(packet.length as usize >= packet.bytes.len(), "{packet:?}");
                section.packets.push(packet);
            }
            other => panic!("a block of kind {other}"),
        }
    }
    sections
}

fn section(body: &[u8]) -> Section {
    assert_eq!(word(body, 0), 0x1a2b_3c4d, "byte order");
    assert_eq!((half(body, 4), half(body, 6)), (1, 0), "version");
    assert_eq!(&body[8..16], [0xff; 8], "the length of a section is not known before");
    let mut section = Section::default();
    for (code, value) in options(&body[16..]) {
        match code {
            1 => section.comment = text(value),
            4 => section.application = text(value),
            _ => {}
        }
    }
    section
}

fn interface(body: &[u8]) -> Interface {
    assert_eq!(half(body, 2), 0, "reserved");
    let mut found = Interface {
        link: half(body, 0),
        snap: word(body, 4),
        name: String::new(),
        filter: String::new(),
        system: String::new(),
        resolution: 6,
    };
    for (code, value) in options(&body[8..]) {
        match code {
            2 => found.name = text(value),
            9 => found.resolution = value[0],
            11 => {
                assert_eq!(value[0], 0, "a filter in words");
                found.filter = text(&value[1..]);
            }
            12 => found.system = text(value),
            _ => {}
        }
    }
    found
}

fn names(body: &[u8], into: &mut Vec<(Vec<u8>, String)>) {
    let mut rest = body;
    loop {
        let (kind, length) = (half(rest, 0), usize::from(half(rest, 2)));
        let value = &rest[4..4 + length];
        rest = &rest[4 + length.next_multiple_of(4)..];
        let address = match kind {
            0 => return,
            1 => 4,
            2 => 16,
            other => panic!("a name record of kind {other}"),
        };
        assert_eq!(value.last(), Some(&0), "names end with a zero");
        for name in value[address..value.len() - 1].split(|byte| *byte == 0) {
            into.push((value[..address].to_vec(), text(name)));
        }
    }
}

fn packet(body: &[u8]) -> Packet {
    let kept = word(body, 12) as usize;
    let bytes = body[20..20 + kept].to_vec();
    let mut flags = 0;
    for (code, value) in options(&body[20 + kept.next_multiple_of(4)..]) {
        if code == 2 {
            flags = word(value, 0);
        }
    }
    let ticks = u64::from(word(body, 4)) << 32 | u64::from(word(body, 8));
    Packet { interface: word(body, 0), ticks, length: word(body, 16), bytes, flags }
}

fn statistics(body: &[u8]) -> (u32, u64, u64) {
    let (mut delivered, mut dropped) = (0, 0);
    for (code, value) in options(&body[12..]) {
        let number = || u64::from(word(value, 0)) | u64::from(word(value, 4)) << 32;
        match code {
            7 => dropped = number(),
            8 => delivered = number(),
            _ => {}
        }
    }
    (word(body, 0), delivered, dropped)
}

fn options(mut rest: &[u8]) -> Vec<(u16, &[u8])> {
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (code, length) = (half(rest, 0), usize::from(half(rest, 2)));
        if code == 0 {
            break;
        }
        found.push((code, &rest[4..4 + length]));
        rest = &rest[4 + length.next_multiple_of(4)..];
    }
    found
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
