//! `v6gap probe --download` where the truth is known: a file behind a shaped line, which each
//! family's headers leave so much of.

use super::sites::{AT, NAME, PORT, nginx_with};
use super::support::{Home, figure, measured, number, question, times};
use super::two_hosts::Lab;
use serde_json::Value;

/// Bytes of the file.
const FILE: usize = 5_000_000;

/// Goodput of TCP at 100 Mbit/s over each family, in Mbit/s: 1448 and 1428 of 1538 bytes.
const TCP: [f64; 2] = [94.148, 92.848];

/// What TLS leaves of it: records of 16 KiB take 22 bytes more each, 5 of head, 1 of kind and 16 of
/// the tag (RFC 8446 section 5.2).
const TLS: f64 = 16_384.0 / 16_406.0;

/// What is left below that is slow start, frames of HTTP/2 and the edges of what was read first.
const OFF_MAX: f64 = 0.01;

/// A file comes as fast as the line lets it through, by HTTP/1.1 and 2.
pub fn have_the_goodput_of_the_line() {
    let (home, lab) = (Home::new("download"), Lab::up("download", &[]));
    let folder = home.path().join("nginx");
    let file = format!("location /file {{ root {}; }}", folder.display());
    let server = nginx_with(&lab, &home, "TLSv1.3", &file);
    std::fs::write(folder.join("file"), vec![b'x'; FILE]).unwrap();
    let [four, six] = AT;
    let mut probe = lab.command(&home, "client");
    probe.args(["probe", &format!("https://{NAME}:{PORT}/file"), "--v4", four, "--v6", six]);
    probe.args(["--mine", "--no-report", "--no-path", "--json", "-q", "--measure", "first-byte"]);
    probe.args(["--http", "1.1,2", "--download", "20MB", "--pairs", &times(6, 12).to_string()]);
    let output = probe.output().unwrap();
    drop(server);
    measured(&output);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    for http in ["1.1", "2"] {
        let cell = format!("first-byte-tcp-http-{http}-body-20000000");
        let q = question(&result, &cell, "throughput");
        for (family, tcp) in ["v4", "v6"].into_iter().zip(TCP) {
            let (rate, model) = (number(&q[family]["estimate"]) / 1e6, tcp * TLS);
            figure(&format!("{cell} {family}, Mbit/s ({model:.3})"), format!("{rate:.3}"));
            assert!((rate / model - 1.0).abs() < OFF_MAX, "{q:#}");
        }
    }
}
