//! Parsers of the kernel's counter files: text in, named values out.
//!
//! Columns are found by the name in the file's header, never by position, because kernels add
//! columns in the middle. Text of another form is an error that says what was expected.

use std::collections::BTreeMap;

/// Takes named values; a name is written anew only the first time it is met.
pub(super) struct Sink<'a> {
    values: &'a mut BTreeMap<String, u64>,
    name: String,
    met: usize,
}

impl<'a> Sink<'a> {
    /// A sink that updates `values`.
    pub(super) fn new(values: &'a mut BTreeMap<String, u64>) -> Self {
        Self { values, name: String::new(), met: 0 }
    }

    /// How many values were put in.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has the files"))]
    pub(super) fn met(&self) -> usize {
        self.met
    }

    /// Sets the value called by `parts` joined together.
    pub(super) fn put(&mut self, parts: &[&str], value: u64) {
        self.name.clear();
        self.name.extend(parts.iter().copied());
        self.met += 1;
        match self.values.get_mut(self.name.as_str()) {
            Some(old) => *old = value,
            None => {
                self.values.insert(self.name.clone(), value);
            }
        }
    }
}

/// `snmp` and `netstat`: pairs of lines, names above and values below, both after `Group:`.
pub(super) fn parse_paired(text: &str, sink: &mut Sink<'_>) -> Result<(), String> {
    let mut lines = text.lines();
    while let Some(header) = lines.next() {
        let (group, names) = split_group(header)?;
        let values = lines.next().ok_or_else(|| format!("no values below '{group}:'"))?;
        let (group_below, values) = split_group(values)?;
        if group != group_below {
            return Err(format!("values of '{group_below}:' below the names of '{group}:'"));
        }
        let mut values = values.split_ascii_whitespace();
        for name in names.split_ascii_whitespace() {
            let value = values.next().ok_or_else(|| format!("no value for '{group}.{name}'"))?;
            // Only settings can be negative, such as the `MaxConn` of Tcp; they are no counters.
            if let Some(value) = counter(value)? {
                sink.put(&[group, ".", name], value);
            }
        }
        if values.next().is_some() {
            return Err(format!("more values than names in '{group}:'"));
        }
    }
    Ok(())
}

/// `snmp6`: one name and value a line; `Ip6InReceives` becomes `Ip6.InReceives`.
pub(super) fn parse_snmp6(text: &str, sink: &mut Sink<'_>) -> Result<(), String> {
    for line in text.lines() {
        let (name, value) = line
            .split_once(|c: char| c.is_ascii_whitespace())
            .ok_or_else(|| format!("no value in '{line}'"))?;
        let (group, rest) = name
            .find('6')
            .map(|at| name.split_at(at + 1))
            .ok_or_else(|| format!("no family in '{name}'"))?;
        if let Some(value) = counter(value.trim_ascii())? {
            sink.put(&[group, ".", rest], value);
        }
    }
    Ok(())
}

/// `dev`: two header lines in three parts (interface, receive, transmit), then a line an interface.
pub(super) fn parse_dev(text: &str, sink: &mut Sink<'_>) -> Result<(), String> {
    let mut lines = text.lines().skip(1);
    let header = lines.next().ok_or("no header")?;
    let mut parts = header.split('|').skip(1);
    let (Some(receive), Some(transmit), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err(format!("a header of another form: '{header}'"));
    };
    let columns = || {
        let receive = receive.split_ascii_whitespace().map(|name| ("rx_", name));
        let transmit = transmit.split_ascii_whitespace().map(|name| ("tx_", name));
        receive.chain(transmit)
    };
    for line in lines {
        let (interface, values) =
            line.rsplit_once(':').ok_or_else(|| format!("no interface in '{line}'"))?;
        let interface = interface.trim_ascii();
        let mut values = values.split_ascii_whitespace();
        for (direction, name) in columns() {
            let value = values.next().ok_or_else(|| format!("too few values in '{line}'"))?;
            if let Some(value) = counter(value)? {
                sink.put(&["if.", interface, ".", direction, in_full(name)], value);
            }
        }
    }
    Ok(())
}

/// `softnet_stat`: a line a processor, hexadecimal columns without header, of which the kernel
/// fixes the first three.
pub(super) fn parse_softnet(text: &str, sink: &mut Sink<'_>) -> Result<(), String> {
    let mut sums = [0_u64; 3];
    for line in text.lines() {
        let mut columns = line.split_ascii_whitespace();
        for sum in &mut sums {
            let column = columns.next().ok_or_else(|| format!("too few values in '{line}'"))?;
            let value = u64::from_str_radix(column, 16)
                .map_err(|_| format!("'{column}' is no hexadecimal number"))?;
            *sum = sum.wrapping_add(value);
        }
    }
    for (name, sum) in ["processed", "dropped", "time_squeeze"].into_iter().zip(sums) {
        sink.put(&["softnet.", name], sum);
    }
    Ok(())
}

fn split_group(line: &str) -> Result<(&str, &str), String> {
    line.split_once(':').ok_or_else(|| format!("no group in '{line}'"))
}

/// A counter's value; `None` for a negative number, which is a setting.
fn counter(text: &str) -> Result<Option<u64>, String> {
    match text.parse() {
        Ok(value) => Ok(Some(value)),
        Err(_) if text.parse::<i64>().is_ok() => Ok(None),
        Err(_) => Err(format!("'{text}' is no number")),
    }
}

/// The two column names that `dev` abbreviates.
fn in_full(name: &str) -> &str {
    match name {
        "errs" => "errors",
        "drop" => "dropped",
        other => other,
    }
}
