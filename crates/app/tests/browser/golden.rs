//! Pictures of pages against those that were kept. `V6GAP_BLESS=1` keeps the present ones.
//!
//! Another version of the browser sets letters and lines a little differently. So a pixel is like
//! the kept one if any of the nine around it is, each channel within [`TOLERANCE`]; and a page is
//! like the kept one if all but [`SHARE_MAX`] of its pixels are, both ways round, so that neither
//! something new nor something missing passes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Share of pixels that may differ.
const SHARE_MAX: f64 = 0.005;

/// Difference of a channel that is none.
const TOLERANCE: u8 = 40;

/// Colours of a kept picture.
const COLOURS_MAX: usize = 256;

/// A picture of three channels.
struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

impl Picture {
    fn decode(bytes: &[u8]) -> Picture {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut buffer).unwrap();
        let channels = info.color_type.samples();
        assert!(channels >= 3 && info.bit_depth == png::BitDepth::Eight, "{info:?}");
        let pixels = buffer[..info.buffer_size()].chunks(channels).map(|p| [p[0], p[1], p[2]]);
        let (width, height) = (info.width as usize, info.height as usize);
        Picture { width, height, pixels: pixels.collect() }
    }

    /// In its most frequent colours, each other pixel in the nearest of them: a third of the bytes,
    /// and nobody sees it.
    fn encode(&self) -> Vec<u8> {
        let mut often: BTreeMap<[u8; 3], usize> = BTreeMap::new();
        self.pixels.iter().for_each(|pixel| *often.entry(*pixel).or_default() += 1);
        let mut colours: Vec<[u8; 3]> = often.keys().copied().collect();
        colours.sort_by_key(|colour| (usize::MAX - often[colour], *colour));
        colours.truncate(COLOURS_MAX);
        let apart = |a: [u8; 3], b: [u8; 3]| {
            (0..3).map(|i| u32::from(a[i].abs_diff(b[i])).pow(2)).sum::<u32>()
        };
        let nearest = |pixel: [u8; 3]| {
            (0..colours.len()).min_by_key(|&at| apart(colours[at], pixel)).unwrap() as u8
        };
        let index: BTreeMap<[u8; 3], u8> = often.keys().map(|&c| (c, nearest(c))).collect();
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_compression(png::Compression::High);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(colours.concat());
        encoder.set_filter(png::Filter::NoFilter);
        let data: Vec<u8> = self.pixels.iter().map(|pixel| index[pixel]).collect();
        encoder.write_header().unwrap().write_image_data(&data).unwrap();
        bytes
    }

    /// Share of pixels that have nothing like them in `other` where they are or next to it.
    fn unlike(&self, other: &Picture) -> f64 {
        let alike = |a: [u8; 3], b: [u8; 3]| (0..3).all(|i| a[i].abs_diff(b[i]) <= TOLERANCE);
        let found = |x: usize, y: usize| {
            let pixel = self.pixels[y * self.width + x];
            let rows = y.saturating_sub(1)..(y + 2).min(other.height);
            rows.into_iter().any(|row| {
                let columns = x.saturating_sub(1)..(x + 2).min(other.width);
                columns.into_iter().any(|c| alike(pixel, other.pixels[row * other.width + c]))
            })
        };
        let all = (0..self.height).flat_map(|y| (0..self.width).map(move |x| (x, y)));
        all.filter(|&(x, y)| !found(x, y)).count() as f64 / self.pixels.len() as f64
    }
}

/// Compares a picture with the kept one, or keeps it.
pub fn compare(name: &str, bytes: &[u8]) {
    let file = format!("{name}.png");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/golden").join(&file);
    let picture = Picture::decode(bytes);
    if std::env::var_os("V6GAP_BLESS").is_some() {
        fs::write(kept, picture.encode()).unwrap();
        return;
    }
    let golden = Picture::decode(&fs::read(&kept).unwrap_or_else(|e| panic!("{file}: {e}")));
    let sizes = [&golden, &picture].map(|p| (p.width, p.height));
    let unlike = picture.unlike(&golden).max(golden.unlike(&picture));
    let same = sizes[0].0 == sizes[1].0 && sizes[0].1.abs_diff(sizes[1].1) <= 8;
    if !same || unlike > SHARE_MAX {
        let folder = std::env::var_os("V6GAP_PICTURES").map(PathBuf::from);
        let found = folder.unwrap_or_else(std::env::temp_dir).join(&file);
        fs::write(&found, bytes).unwrap();
        panic!(
            "{file}: {:.2} % of the pixels differ, sizes {sizes:?}; look at {} and, if it is \
             right, set V6GAP_BLESS=1",
            unlike * 100.0,
            found.display()
        );
    }
}

#[track_caller]
fn check(is: bool, what: &str) {
    assert!(is, "{what}");
}

/// That the comparison sees what a person would see, and not what nobody would.
pub fn prove() {
    let page = |draw: &dyn Fn(usize, usize) -> [u8; 3]| {
        let all = (0..100).flat_map(|y| (0..200).map(move |x| (x, y)));
        Picture { width: 200, height: 100, pixels: all.map(|(x, y)| draw(x, y)).collect() }
    };
    let line = |at: usize| page(&move |x, _| if x == at { [0; 3] } else { [255; 3] });
    check(line(50).unlike(&line(51)) == 0.0, "a line that moved by a pixel");
    check(line(50).unlike(&line(53)) >= SHARE_MAX, "a line that moved by three");
    let blank = page(&|_, _| [255; 3]);
    check(line(50).unlike(&blank) >= SHARE_MAX, "a line that is gone");
    let grey = page(&|_, _| [235; 3]);
    check(grey.unlike(&blank) == 0.0, "a paper a little greyer");
    let shade = page(&|x, y| [(x / 13) as u8 * 16, (y / 10) as u8 * 20, 9]);
    let again = Picture::decode(&shade.encode());
    check(again.unlike(&shade) == 0.0 && again.pixels.len() == 20_000, "a picture that was kept");
}
