//! What a server had over time, and how its memory grew.

use crate::Look;
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// Stretches whose means the slope is fitted to: neighbouring samples are alike, means of long
/// stretches hardly.
const STRETCHES: usize = 12;

/// The 97.5 % quantile of Student's t for a line through that many points.
const T: f64 = 2.228;

/// Seconds, memory in kB, descriptors and threads.
#[derive(Default)]
pub struct Samples(Vec<(f64, u64, usize, u64)>);

/// A slope in kB per hour with its range.
pub struct Slope {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
}

impl Samples {
    pub fn take(&mut self, at: Duration, look: &Look) {
        self.0.push((at.as_secs_f64(), look.memory_kb, look.descriptors, look.threads));
    }

    pub fn highest_kb(&self) -> u64 {
        self.0.iter().map(|sample| sample.1).max().unwrap_or(0)
    }

    pub fn most_descriptors(&self) -> usize {
        self.0.iter().map(|sample| sample.2).max().unwrap_or(0)
    }

    /// The slope of the memory after that time.
    pub fn slope_per_hour(&self, after: Duration) -> Slope {
        let later = self.0.iter().filter(|sample| sample.0 >= after.as_secs_f64());
        let points: Vec<(f64, f64)> = later.map(|s| (s.0 / 3600.0, s.1 as f64)).collect();
        let each = points.len().div_ceil(STRETCHES).max(1);
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let stretch = |part: &[(f64, f64)]| {
            let (x, y): (Vec<f64>, Vec<f64>) = part.iter().copied().unzip();
            (mean(&x), mean(&y))
        };
        let (x, y): (Vec<f64>, Vec<f64>) = points.chunks(each).map(stretch).unzip();
        let (mean_x, mean_y) = (mean(&x), mean(&y));
        let square: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
        let product: f64 = x.iter().zip(&y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let estimate = product / square;
        let rest = |(x, y): (&f64, &f64)| (y - mean_y - estimate * (x - mean_x)).powi(2);
        let rests: f64 = x.iter().zip(&y).map(rest).sum();
        let error = (rests / (x.len() as f64 - 2.0) / square).sqrt();
        Slope { estimate, low: estimate - T * error, high: estimate + T * error }
    }

    pub fn as_json(&self) -> Value {
        json!(self.0)
    }
}

impl Slope {
    pub fn as_json(&self) -> Value {
        json!([self.estimate, self.low, self.high])
    }
}

impl fmt::Display for Slope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} ({:.0} to {:.0})", self.estimate, self.low, self.high)
    }
}
