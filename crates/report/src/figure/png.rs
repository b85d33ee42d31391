//! A picture as a PNG file, on white: for slides and where nothing else is taken.

use super::font::Fonts;
use super::picture::{Line, Mark, Picture, Rgb, Step};
use png::{BitDepth, ColorType, Encoder, PixelDimensions, Unit};
use zeno::{Command, Mask, Point, Stroke, Style};

/// Pixels in a millimetre: 300 in an inch, as printers ask for.
const PIXELS_PER_MM: f64 = 300.0 / 25.4;

/// The whole file, the picture as wide as that; with what it shows and where it came from.
///
/// # Errors
/// If a text holds what PNG cannot.
pub(crate) fn png(
    picture: &Picture,
    width_mm: f64,
    said: [(&str, &str); 2],
) -> Result<Vec<u8>, png::EncodingError> {
    let width = (width_mm * PIXELS_PER_MM).round().max(1.0);
    let scale = width as f32 / picture.width;
    let mut paper = Paper::new(width as usize, (picture.height * scale).ceil() as usize);
    let fonts = Fonts::default();
    for mark in &picture.marks {
        match mark {
            Mark::Text(text) => {
                let letters =
                    fonts.of(text.bold).outline(&text.content, text.start(&fonts), text.size);
                paper.fill(&commands(&letters, scale), text.ink.rgb());
            }
            Mark::Shape(shape) => {
                let path = commands(&shape.form.steps(), scale);
                if let Some(ink) = shape.fill {
                    paper.fill(&path, ink.rgb());
                }
                if let Some(line) = &shape.line {
                    paper.stroke(&path, line, scale);
                }
            }
        }
    }
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, paper.width as u32, paper.height as u32);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let per_metre = (PIXELS_PER_MM * 1000.0).round() as u32;
    encoder.set_pixel_dims(Some(PixelDimensions {
        xppu: per_metre,
        yppu: per_metre,
        unit: Unit::Meter,
    }));
    for (key, text) in said {
        encoder.add_itxt_chunk(key.to_owned(), text.to_owned())?;
    }
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&paper.pixels)?;
    writer.finish()?;
    Ok(file)
}

/// The steps in pixels.
fn commands(steps: &[Step], scale: f32) -> Vec<Command> {
    let at = |[x, y]: [f32; 2]| Point::new(x * scale, y * scale);
    let command = |step: &Step| match *step {
        Step::Move(to) => Command::MoveTo(at(to)),
        Step::Line(to) => Command::LineTo(at(to)),
        Step::Curve([one, two, to]) => Command::CurveTo(at(one), at(two), at(to)),
        Step::Close => Command::Close,
    };
    steps.iter().map(command).collect()
}

/// Pixels of three bytes, row by row.
struct Paper {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Paper {
    fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![255; width * height * 3] }
    }

    fn fill(&mut self, path: &[Command], rgb: Rgb) {
        self.paint(Mask::new(path).render(), rgb);
    }

    fn stroke(&mut self, path: &[Command], line: &Line, scale: f32) {
        let dashes: Vec<f32> = line.stroke.dashes().iter().map(|length| length * scale).collect();
        let mut stroke = Stroke::new(line.width * scale);
        stroke.dash(&dashes, 0.0);
        self.paint(Mask::new(path).style(Style::Stroke(stroke)).render(), line.ink.rgb());
    }

    /// Lays a colour over what is there, as far as the mask covers each pixel.
    fn paint(&mut self, (mask, place): (Vec<u8>, zeno::Placement), rgb: Rgb) {
        let columns = place.width as usize;
        if columns == 0 {
            return;
        }
        for (row, covered) in mask.chunks(columns).enumerate() {
            let y = i64::from(place.top) + row as i64;
            for (column, cover) in covered.iter().enumerate() {
                let x = i64::from(place.left) + column as i64;
                let inside =
                    (0..self.width as i64).contains(&x) && (0..self.height as i64).contains(&y);
                if !inside || *cover == 0 {
                    continue;
                }
                let at = (y as usize * self.width + x as usize) * 3;
                for (pixel, ink) in self.pixels[at..at + 3].iter_mut().zip(rgb) {
                    let cover = u32::from(*cover);
                    let mixed = u32::from(*pixel) * (255 - cover) + u32::from(ink) * cover;
                    *pixel = ((mixed + 127) / 255) as u8;
                }
            }
        }
    }
}
