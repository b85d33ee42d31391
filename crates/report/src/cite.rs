//! What a paper says of a run: a paragraph on the method, and the sources of its statistics.
//!
//! Everything stated follows from the record: design, numbers, margins, versions, world, seed, and
//! the command that repeats the run.

use crate::number::utc;
use crate::sentences;
use crate::sheet::tex;
use crate::words;
use v6gap_core::arm::Arm;
use v6gap_core::family::Family;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::plan::Stop;
use v6gap_core::published;
use v6gap_core::record::Host;
use v6gap_core::unit::{format_share, format_span};
use v6gap_judge::analysis::Analysis;
use v6gap_judge::analysis::effect::SCORES_MIN;
use v6gap_judge::analysis::words::counted;

/// How a paragraph is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CiteForm {
    /// Plain text, sources by author and year.
    Text,
    /// LaTeX, sources by `\cite`.
    Latex,
}

/// A source of the method.
struct Source {
    /// Key of the source in BibTeX.
    key: &'static str,
    /// Author and year.
    short: &'static str,
    /// The entry without its braces and key: kind and fields.
    kind: &'static str,
    fields: &'static [(&'static str, &'static str)],
}

const HOLM: Source = Source {
    key: "holm1979",
    short: "Holm 1979",
    kind: "article",
    fields: &[
        ("author", "Sture Holm"),
        ("title", "A Simple Sequentially Rejective Multiple Test Procedure"),
        ("journal", "Scandinavian Journal of Statistics"),
        ("volume", "6"),
        ("year", "1979"),
    ],
};
const SCHUIRMANN: Source = Source {
    key: "schuirmann1987",
    short: "Schuirmann 1987",
    kind: "article",
    fields: &[
        ("author", "Donald J. Schuirmann"),
        ("title", "A Comparison of the Two One-Sided Tests Procedure and the Power Approach"),
        ("journal", "Journal of Pharmacokinetics and Biopharmaceutics"),
        ("volume", "15"),
        ("year", "1987"),
    ],
};
const HODGES_LEHMANN: Source = Source {
    key: "hodges1963",
    short: "Hodges and Lehmann 1963",
    kind: "article",
    fields: &[
        ("author", "J. L. Hodges and E. L. Lehmann"),
        ("title", "Estimates of Location Based on Rank Tests"),
        ("journal", "Annals of Mathematical Statistics"),
        ("volume", "34"),
        ("year", "1963"),
    ],
};
const STEIN: Source = Source {
    key: "stein1945",
    short: "Stein 1945",
    kind: "article",
    fields: &[
        ("author", "Charles Stein"),
        (
            "title",
            "A Two-Sample Test for a Linear Hypothesis Whose Power is Independent of the Variance",
        ),
        ("journal", "Annals of Mathematical Statistics"),
        ("volume", "16"),
        ("year", "1945"),
    ],
};
const WANG_RAMDAS: Source = Source {
    key: "wang2023",
    short: "Wang and Ramdas 2023",
    kind: "misc",
    fields: &[
        ("author", "Hongjian Wang and Aaditya Ramdas"),
        (
            "title",
            "Anytime-Valid t-Tests and Confidence Sequences for Gaussian Means with Unknown \
             Variance",
        ),
        ("year", "2023"),
    ],
};

const WAUDBY_SMITH_RAMDAS: Source = Source {
    key: "waudbysmith2024",
    short: "Waudby-Smith and Ramdas 2024",
    kind: "article",
    fields: &[
        ("author", "Ian Waudby-Smith and Aaditya Ramdas"),
        ("title", "Estimating Means of Bounded Random Variables by Betting"),
        ("journal", "Journal of the Royal Statistical Society Series B: Statistical Methodology"),
        ("volume", "86"),
        ("number", "1"),
        ("pages", "1--27"),
        ("year", "2024"),
    ],
};

/// The sources that a run's estimates and ranges rest on.
fn of_ranges(analysis: &Analysis) -> &'static [Source] {
    match analysis.run.plan.design.stop {
        Stop::Pairs { .. } => &[HODGES_LEHMANN],
        Stop::Adaptive { .. } if analysis.ended_by_itself() => {
            &[HODGES_LEHMANN, STEIN, WAUDBY_SMITH_RAMDAS, WANG_RAMDAS]
        }
        Stop::Adaptive { .. } => &[HODGES_LEHMANN, WAUDBY_SMITH_RAMDAS, WANG_RAMDAS],
    }
}

/// Whether this is the key of a source that a paragraph may cite.
fn is_key(analysis: &Analysis, text: &str) -> bool {
    let reference = analysis.run.plan.reference.as_deref();
    let study = reference.and_then(published::find).map(|(study, _)| study.study);
    let mut sources = of_ranges(analysis).iter().chain(&[SCHUIRMANN, HOLM]);
    study.as_deref() == Some(text) || sources.any(|source| source.key == text)
}

/// A paragraph on how the run was made and judged; `command` repeats it.
pub fn cite(analysis: &Analysis, command: &str, form: CiteForm) -> String {
    let by = |source: &Source| match form {
        CiteForm::Text => format!(" ({})", source.short),
        // A mark, so that it is not escaped.
        CiteForm::Latex => format!("\u{1}{}\u{2}", source.key),
    };
    let said = [
        what(analysis),
        repeats(analysis, form),
        where_and_when(analysis),
        design(analysis),
        stopping(analysis, by),
        verdicts(analysis, &by(&SCHUIRMANN), &by(&HOLM)),
        discarded(analysis),
        predicted(analysis),
    ];
    let said: Vec<String> = said.into_iter().filter(|text| !text.is_empty()).collect();
    let again = format!("To repeat the run (seed {:#x}):", analysis.run.plan.seed);
    match form {
        CiteForm::Text => {
            let clean = |c: char| c != '\n' && words::is_unsafe(c);
            format!("{} {again} {command}\n", said.join(" ")).replace(clean, "?")
        }
        CiteForm::Latex => {
            let text = format!("{} {again}", said.join(" "));
            // Escaping turns both marks into question marks, so the pieces between them are escaped
            // one by one. A stored name may hold a mark as well: what is no key behind it is text.
            let mut out = String::from("% the sources: v6gap cite RESULT --format bibtex\n");
            let mut rest = text.as_str();
            while let Some((before, behind)) = rest.split_once('\u{1}') {
                out.push_str(&tex(before));
                rest = match behind.split_once('\u{2}').filter(|(key, _)| is_key(analysis, key)) {
                    Some((key, behind)) => {
                        out.push_str(&format!("~\\cite{{{key}}}"));
                        behind
                    }
                    None => behind,
                };
            }
            out.push_str(&tex(rest));
            out.push_str(&format!(" \\texttt{{{}}}\n", tex(command).replace("--", "-{}-")));
            out
        }
    }
}

/// The program and the sources of its method, for BibTeX.
pub fn bibtex(analysis: &Analysis) -> String {
    let run = &analysis.run;
    let note = format!("Version {}, record of run {}", run.tool, run.id);
    let year = utc(run.started_unix_ns).0.rsplit(' ').next().unwrap_or("").to_owned();
    let mut out = entry(
        "misc",
        "v6gap",
        &[
            ("title", "v6gap: how {IPv6} performs against {IPv4} between two hosts".to_owned()),
            ("note", tex(&note)),
            ("year", year),
        ],
    );
    let reference = analysis.run.plan.reference.as_deref();
    if let Some((study, _)) = reference.and_then(published::find) {
        let mut fields =
            vec![("author", study.authors.replace(", ", " and ")), ("title", study.title)];
        fields.extend(study.year.map(|year| ("year", year)));
        out.push('\n');
        out.push_str(&entry("misc", &study.study, &fields));
    }
    for source in of_ranges(analysis).iter().chain(&[SCHUIRMANN, HOLM]) {
        let fields: Vec<(&str, String)> =
            source.fields.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        out.push('\n');
        out.push_str(&entry(source.kind, source.key, &fields));
    }
    out
}

fn entry(kind: &str, key: &str, fields: &[(&str, String)]) -> String {
    let mut out = format!("@{kind}{{{key},\n");
    for (name, value) in fields {
        out.push_str(&format!("  {name} = {{{value}}},\n"));
    }
    out.push_str("}\n");
    out
}

fn what(analysis: &Analysis) -> String {
    let names = &analysis.arm_names;
    let mut metrics: Vec<&str> = Vec::new();
    for metric in Metric::ALL {
        let noun = metric.noun();
        if analysis.questions.iter().any(|q| q.metric == metric) && !metrics.contains(&noun) {
            metrics.push(noun);
        }
    }
    let (client, server) = words::hosts(analysis);
    let run = &analysis.run;
    format!(
        "{} was compared with {} between {client} and {server} with v6gap {} (control {}) \
         in {} on {}.",
        names.b,
        names.a,
        run.tool,
        words::protocol(run),
        counted(analysis.questions.len(), "question"),
        metrics.join(", ")
    )
}

/// The published experiment that the plan repeats.
fn repeats(analysis: &Analysis, form: CiteForm) -> String {
    let reference = analysis.run.plan.reference.as_deref();
    let Some((study, experiment)) = reference.and_then(published::find) else {
        return String::new();
    };
    let cited = match form {
        CiteForm::Text => String::new(),
        CiteForm::Latex => format!("\u{1}{}\u{2}", study.study),
    };
    format!(
        "The plan repeats the experiment “{experiment}” of {}, “{}”{cited}.",
        study.authors, study.title
    )
}

fn where_and_when(analysis: &Analysis) -> String {
    let run = &analysis.run;
    let (date, time) = utc(run.started_unix_ns);
    let path = match words::path(analysis) {
        Some(path) => format!("a network made in namespaces of one machine ({path})"),
        None => "the network between them".to_owned(),
    };
    let addresses: Vec<String> = Family::BOTH
        .into_iter()
        .filter_map(|family| run.addresses.get(family).map(|a| format!("{family} {a}")))
        .collect();
    let to = match addresses.len() {
        0 => String::new(),
        _ => format!(" to {}", addresses.join(", ")),
    };
    format!(
        "The path was {path}{to}; the run began on {date} at {time} UTC and took {}. {} {}",
        format_span(analysis.span_ns as f64),
        host("The client", &run.hosts.client),
        host("The server", &run.hosts.server)
    )
    .trim()
    .to_owned()
}

/// What runs on a host, as far as it told.
fn host(end: &str, host: &Host) -> String {
    let fact = |name: &str| host.facts.get(name).cloned();
    let told: Vec<String> =
        ["distribution", "kernel", "processor"].into_iter().filter_map(fact).collect();
    if told.is_empty() { String::new() } else { format!("{end} ran {}.", told.join(", ")) }
}

fn design(analysis: &Analysis) -> String {
    let design = &analysis.run.plan.design;
    let order = sentences::drawn::order(analysis);
    let mut said = format!(
        "Both were measured next to each other in time in blocks, {} of them, {order}; \
         neither shares sockets with the other.",
        counted(analysis.rounds as usize, "round")
    );
    let nulls = analysis.null_blocks();
    if nulls > 0 {
        said.push_str(&format!(
            " {}, of a family with itself, before the first comparison{} ({}) \
             bound what the instrument adds.",
            counted(nulls, "null block"),
            match design.sentinel_every {
                0 => String::new(),
                every => format!(" and in one of {every} rounds"),
            },
            match analysis.nulls_agree() {
                true => "all passed",
                false => "not all passed",
            }
        ));
    }
    let values = [Arm::A, Arm::B].map(|arm| analysis.arm_names.get(arm).as_str());
    said.push_str(&format!(
        " The effect of a block is the logarithm of the ratio of {} to {}{}; what a question’s \
         blocks in one round say together (of ratios their Hodges-Lehmann centre, of shares their \
         mean) makes one pair, the unit of all ranges.",
        values[1],
        values[0],
        match analysis.questions.iter().any(|q| q.metric.scale() == Scale::Difference) {
            true => ", for shares of packets their difference",
            false => "",
        }
    ));
    said
}

fn stopping(analysis: &Analysis, by: impl Fn(&Source) -> String) -> String {
    let confidence = format_share(analysis.run.plan.design.confidence);
    match analysis.run.plan.design.stop {
        Stop::Pairs { pairs } => format!(
            "The number of pairs, {pairs}, was fixed beforehand; estimates are Hodges-Lehmann, \
             with exact signed-rank ranges of {confidence}{}; where so few pairs can never decide \
             by ranks, and for shares of packets, with those of Student’s t.",
            by(&HODGES_LEHMANN)
        ),
        Stop::Adaptive { time_ns_max, pairs_min } => {
            let until = format!(
                "The run was to stop when every question was answered, after {pairs_min} pairs at \
                 the earliest and {} at the latest; estimates are Hodges-Lehmann{}",
                format_span(time_ns_max as f64),
                by(&HODGES_LEHMANN)
            );
            let any_time = format!(
                "confidence sequences, which hold at any stopping time: by bets on scores{} from \
                 {SCORES_MIN} pairs on, and of the mean of nearly normal values{} with fewer and \
                 for shares of packets",
                by(&WAUDBY_SMITH_RAMDAS),
                by(&WANG_RAMDAS)
            );
            match analysis.ended_by_itself() {
                true => format!(
                    "{until}. It asked {any_time}. As it ended by this rule, ranges of \
                     {confidence} are those of one look, Student’s t below {SCORES_MIN} pairs \
                     and for shares, and signed-rank ranges from there on, at least as wide as \
                     the noise of the first pairs asks for{}, and at 0.7 of the error rate where \
                     the estimate may have had a part in when it ended; those of questions whose \
                     pairs resemble their neighbours, gather round two values, have one far off \
                     among the first or are fewer than 8, or of which a precision was asked for, \
                     stay confidence sequences.",
                    by(&STEIN)
                ),
                false => format!("{until}, and ranges of {confidence} are {any_time}."),
            }
        }
    }
}

fn verdicts(analysis: &Analysis, same: &str, several: &str) -> String {
    let margins = words::margins(analysis).unwrap_or_default();
    let margins = margins.replace("Too small to matter: ", "").replace(" (--margin).", "");
    format!(
        "Differences are called the same if the 90 % range lies inside margins fixed beforehand \
         ({margins}), by two one-sided tests{same}; p-values are corrected over the questions of \
         one metric and transport{several}."
    )
}

fn discarded(analysis: &Analysis) -> String {
    let counted = match analysis.discarded.len() {
        0 => "No block was discarded.".to_owned(),
        1 => "1 block was discarded by a gate fixed beforehand.".to_owned(),
        n => format!("{n} blocks were discarded by gates fixed beforehand."),
    };
    let failed = if analysis.valid { "" } else { " A check of the run failed: it has no verdict." };
    let stopped = analysis.stopped.as_ref().map(|why| format!(" It was {}", words::sentence(why)));
    format!("{counted}{failed}{}", stopped.unwrap_or_default())
}

fn predicted(analysis: &Analysis) -> String {
    match analysis.questions.iter().any(|q| q.prediction.is_some()) {
        true => {
            "What the longer IPv6 header alone costs was predicted from the lengths of headers and \
             the packets of each message, and a second verdict given on the rest."
                .to_owned()
        }
        false => String::new(),
    }
}
