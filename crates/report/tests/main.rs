//! One binary for all tests of rendering, because they share their fixtures.

mod archive;
mod conforming;
mod exports;
mod files;
mod fixtures;
mod grafana;
mod html;
mod language;
mod live;
mod metrics;
mod other_runs;
mod parquet;
mod parsed;
mod schema;
mod sentences;
mod snapshots;
mod studies;
mod text;
mod views;
