//! Who is to be measured and how, as it was typed.

use crate::args::{CaptureArgs, ConnectArgs, ResultArgs, SnmpArgs};
use crate::conditions;
use crate::failure::Failure;
use crate::key::{self, SnmpKeys};
use crate::settings::Context;
use std::collections::BTreeMap;
use std::path::PathBuf;
use v6gap_core::plan::Plan;
use v6gap_perform::target::{Target, resolve};
use v6gap_perform::turn::Turn;
use v6gap_perform::{Access, Capture, Devices, Job};

/// How a measurement is made that the plan does not say, and what becomes of its result.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// How to reach the server.
    pub connect: ConnectArgs,
    /// Processor to pin the measuring thread to.
    pub processor: Option<usize>,
    /// Folder with the kernel of an emulated system, if one was named.
    pub kernel: Option<PathBuf>,
    /// What to capture meanwhile.
    pub capture: CaptureArgs,
    /// Devices to read before and after each trial.
    pub snmp: SnmpArgs,
    /// What to do with the result.
    pub result: ResultArgs,
    /// The plan as it was written, if it was.
    pub written: Option<String>,
}

impl RunOptions {
    /// Performing `plan` with these options; it is not fitted to the path.
    ///
    /// # Errors
    /// If a key cannot be used, or a condition could never be met.
    pub fn job(&self, plan: Plan, keys: &SnmpKeys) -> Result<Job, Failure> {
        if let Some(metric) = conditions::never_met(&self.result, &plan) {
            let what = format!("--fail-if: {metric} is not measured, so nothing could fail");
            return Err(Failure::usage(what));
        }
        Ok(Job {
            plan,
            access: self.connect.access()?,
            processor: self.processor,
            fit: false,
            notes: Vec::new(),
            continued: None,
            capture: self.capture.wanted(),
            devices: self.snmp.wanted(keys)?,
            facts: BTreeMap::new(),
            written: self.written.clone(),
            argv: Vec::new(),
            part_of: None,
            between: self.result.between.clone(),
        })
    }

    /// Whether others are waited for, here and at the server.
    pub fn waits(&self) -> bool {
        !self.connect.no_wait
    }

    /// The turn of this host, which is still to be waited for.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn turn(&self, context: &Context) -> Result<Turn, Failure> {
        Ok(Turn::of_host(&context.locks(), self.waits())?)
    }
}

impl ConnectArgs {
    /// The target that the options name.
    ///
    /// # Errors
    /// If an address cannot be measured, or the name is not known.
    pub fn target(&self, host: &str) -> Result<Target, Failure> {
        if host.trim().is_empty() {
            return Err(Failure::usage("the name of the host is empty"));
        }
        let given = self.addresses();
        let target = resolve(host, self.port, given.v4.as_deref(), given.v6.as_deref())?;
        Ok(target.from(&self.bind)?)
    }

    /// The failure with these options in each command that asks the server called `host`.
    pub fn said_again(&self, host: &str, failure: Failure) -> Failure {
        let asks = |command: &str| {
            let command = command.strip_prefix("sudo ").unwrap_or(command);
            let words = command.strip_prefix("v6gap run ");
            let words = words.or_else(|| command.strip_prefix("v6gap check "));
            let rest = words.and_then(|words| words.strip_prefix(host));
            !host.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        failure.with_commands(|command| match asks(&command) {
            true => format!("{command}{}", self.again_behind(&command)),
            false => command,
        })
    }

    /// How the server is spoken to.
    ///
    /// # Errors
    /// If the key cannot be used.
    pub fn access(&self) -> Result<Access, Failure> {
        let (timeout_ns, wait) = (self.connect_timeout, !self.no_wait);
        Ok(Access { key: key::of_client(&self.key)?, timeout_ns, wait, measurement: None })
    }
}

impl CaptureArgs {
    /// What is to be captured, if anything is.
    fn wanted(&self) -> Option<Capture> {
        let to = self.capture.clone()?;
        let (snap_bytes, limit_bytes) = (self.capture_snap, self.capture_limit);
        Some(Capture { to, nodes: self.capture_at.clone(), snap_bytes, limit_bytes })
    }
}

impl SnmpArgs {
    /// The devices that are to be read, if any are.
    fn wanted(&self, keys: &SnmpKeys) -> Result<Option<Devices>, Failure> {
        if self.snmp.is_empty() {
            return Ok(None);
        }
        let credentials = key::of_devices(self, keys)?;
        let (names, over, timeout_ns) = (self.snmp.clone(), self.snmp_over, self.snmp_timeout);
        Ok(Some(Devices { names, credentials, over, timeout_ns }))
    }
}
