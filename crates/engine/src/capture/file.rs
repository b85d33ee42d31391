//! The files: pcapng, one section for each trial, written with `pcap-file`.
//!
//! The crate is a release candidate, so it is pinned exactly and named nowhere else; tests read
//! what it wrote with a reader of their own.

use super::Setup;
use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption, InterfaceTsResolution,
};
use pcap_file::pcapng::blocks::interface_statistics::{
    InterfaceStatisticsBlock, InterfaceStatisticsOption,
};
use pcap_file::pcapng::blocks::name_resolution::{
    Ipv4Record, Ipv6Record, NameResolutionBlock, Record,
};
use pcap_file::pcapng::blocks::opt_common::CommonOption;
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::net::IpAddr;
use std::time::Duration;
use v6gap_core::family::Family;
use v6gap_core::observation::{TAG_BYTES, Tapped};
use v6gap_sys::capture::{Frame, Link};

/// Time stamps count thousand-millionths of a second (`if_tsresol`).
const DIGITS: u8 = 9;

/// Bytes that wait before they are handed to the system.
const BUFFER_BYTES: usize = 1 << 20;

/// Bytes of a packet's block besides the frame, with its flags, at most.
const BLOCK_BYTES: u64 = 32 + 16 + 4;

/// Directions in the flags of a packet's block.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// An interface as the files describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Whose it is.
    pub node: String,
    /// Name of the interface on that host.
    pub interface: String,
    /// How its frames begin.
    pub link: Link,
}

/// One file.
pub struct File {
    writer: Option<PcapNgWriter<Counting>>,
    /// Where the first section goes.
    fresh: Option<Counting>,
    places: Vec<Interface>,
    setup: Setup,
    limit_bytes: u64,
    trouble: Option<String>,
    /// The frame with its tag put back.
    whole: Vec<u8>,
}

/// Counts what is written.
struct Counting {
    inner: BufWriter<Box<dyn Write + Send>>,
    bytes: u64,
}

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl File {
    /// A file of which nothing is written yet, `limit_bytes` long at most.
    pub fn new(
        sink: Box<dyn Write + Send>,
        places: Vec<Interface>,
        setup: &Setup,
        limit_bytes: u64,
    ) -> Self {
        let inner = BufWriter::with_capacity(BUFFER_BYTES, sink);
        File {
            writer: None,
            fresh: Some(Counting { inner, bytes: 0 }),
            places,
            setup: setup.clone(),
            limit_bytes,
            trouble: None,
            whole: Vec::new(),
        }
    }

    /// Begins a section.
    pub fn begin(&mut self, comment: &str) {
        let outcome = self.section(comment);
        self.keep(outcome);
    }

    fn section(&mut self, comment: &str) -> Result<(), String> {
        let header = SectionHeaderBlock {
            endianness: pcap_file::Endianness::Little,
            options: vec![
                SectionHeaderOption::OS(text(&self.setup.system)),
                SectionHeaderOption::UserApplication(text(&self.setup.program)),
                SectionHeaderOption::Common(CommonOption::Comment(text(comment))),
            ],
            ..SectionHeaderBlock::default()
        };
        match (self.fresh.take(), &mut self.writer) {
            (Some(sink), _) => {
                self.writer = Some(PcapNgWriter::with_section_header(sink, header).map_err(told)?);
            }
            (None, Some(writer)) => {
                writer.write_pcapng_block(header).map_err(told)?;
            }
            // There was trouble before.
            (None, None) => return Ok(()),
        }
        let Some(writer) = &mut self.writer else { return Ok(()) };
        for place in &self.places {
            writer.write_pcapng_block(description(place, &self.setup)?).map_err(told)?;
        }
        let names = &self.setup.names;
        if !names.is_empty() {
            writer.write_pcapng_block(resolution(names)).map_err(told)?;
        }
        Ok(())
    }

    /// Writes a frame of interface `index`, if there is room; says whether it did.
    pub fn frame(&mut self, index: usize, seen: &Frame<'_>) -> bool {
        let Some(writer) = &mut self.writer else { return false };
        if writer.get_ref().bytes + BLOCK_BYTES + seen.bytes.len() as u64 > self.limit_bytes {
            let mega = self.limit_bytes as f64 / 1e6;
            let full = format!("the file has its {mega:.0} MB; later frames are only counted");
            self.keep(Err(full));
            return false;
        }
        let direction = if seen.outgoing { OUTBOUND } else { INBOUND };
        let (bytes, length) = with_tag(seen, &mut self.whole);
        let block = EnhancedPacketBlock {
            interface_id: index as u32,
            timestamp: Duration::from_nanos(seen.at_unix_ns),
            original_len: length.max(bytes.len()) as u32,
            data: Cow::Borrowed(bytes),
            options: vec![EnhancedPacketOption::Flags(direction)],
        };
        let outcome = writer.write_pcapng_block(block).map(|_| ()).map_err(told);
        let written = outcome.is_ok();
        self.keep(outcome);
        written
    }

    /// Ends a section with what each interface saw.
    pub fn end(&mut self, counts: &[Tapped], now_unix_ns: u64) {
        let Some(writer) = &mut self.writer else { return };
        let mut close = || -> Result<(), String> {
            for (index, count) in counts.iter().enumerate() {
                let seen = count.sent.all().frames + count.received.all().frames;
                let block = InterfaceStatisticsBlock {
                    interface_id: index as u32,
                    timestamp: Duration::from_nanos(now_unix_ns),
                    options: vec![
                        InterfaceStatisticsOption::IsbFilterAccept(seen + count.dropped),
                        InterfaceStatisticsOption::IsbOsDrop(count.dropped),
                        InterfaceStatisticsOption::IsbUsrDeliv(seen),
                    ],
                };
                writer.write_pcapng_block(block).map_err(told)?;
            }
            writer.get_mut().flush().map_err(told)
        };
        let outcome = close();
        self.keep(outcome);
    }

    /// What stopped the writing, told once.
    pub fn trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    /// After an error the file is flushed and left as it is.
    fn keep(&mut self, outcome: Result<(), String>) {
        if let Err(why) = outcome {
            if let Some(mut writer) = self.writer.take() {
                // The trouble that is told is the first.
                let _ = writer.get_mut().flush();
            }
            self.trouble.get_or_insert(why);
        }
    }
}

/// The EtherType that a bare IP packet would have; 0 for another.
pub(super) fn ethertype_of(packet: &[u8]) -> u16 {
    let version = packet.first().map_or(0, |byte| byte >> 4);
    let of = |family: Family| match family {
        Family::V4 => 4,
        Family::V6 => 6,
    };
    Family::BOTH.into_iter().find(|&family| of(family) == version).map_or(0, Family::ethertype)
}

/// The frame as it stood on the line, and its full length.
fn with_tag<'a>(seen: &Frame<'a>, whole: &'a mut Vec<u8>) -> (&'a [u8], usize) {
    const ADDRESSES_BYTES: usize = 12;
    let Some((tag, (addresses, rest))) = seen.tag.zip(seen.bytes.split_at_checked(ADDRESSES_BYTES))
    else {
        return (seen.bytes, seen.length);
    };
    whole.clear();
    whole.extend_from_slice(addresses);
    whole.extend_from_slice(&tag);
    whole.extend_from_slice(rest);
    (whole, seen.length + TAG_BYTES)
}

fn description(
    place: &Interface,
    setup: &Setup,
) -> Result<InterfaceDescriptionBlock<'static>, String> {
    let linktype = match place.link {
        Link::Ethernet => DataLink::ETHERNET,
        Link::Ip => DataLink::RAW,
    };
    // A leading zero says that the filter is given in words.
    let filter: Vec<u8> = std::iter::once(0).chain(setup.filter.bytes()).collect();
    let resolution = InterfaceTsResolution::new(false, DIGITS).map_err(told)?;
    let mut block = InterfaceDescriptionBlock::new(linktype, setup.snap_bytes);
    block.options = vec![
        InterfaceDescriptionOption::IfName(format!("{}:{}", place.node, place.interface).into()),
        InterfaceDescriptionOption::IfTsResol(resolution),
        InterfaceDescriptionOption::IfFilter(filter.into()),
        InterfaceDescriptionOption::IfOs(text(&setup.system)),
    ];
    Ok(block)
}

fn resolution(names: &[(IpAddr, String)]) -> NameResolutionBlock<'static> {
    let record = |(address, name): &(IpAddr, String)| match *address {
        IpAddr::V4(ip_addr) => Record::Ipv4(Ipv4Record { ip_addr, names: vec![text(name)] }),
        IpAddr::V6(ip_addr) => Record::Ipv6(Ipv6Record { ip_addr, names: vec![text(name)] }),
    };
    NameResolutionBlock { records: names.iter().map(record).collect(), options: Vec::new() }
}

fn text(of: &str) -> Cow<'static, str> {
    Cow::Owned(of.to_owned())
}

fn told(error: impl std::fmt::Display) -> String {
    format!("cannot be written: {error}")
}
