//! Plan files: problems in their place, plans in words, time and bytes in advance.

use crate::support::{Sandbox, flat};

#[test]
fn an_unknown_key_is_shown_in_its_place() {
    let sandbox = Sandbox::new();
    let text = "v6gap = 1\n\n[[measure]]\nmetric  = \"rtt\"\nmesage  = [\"64 B\", \"64 KiB\"]\n";
    sandbox.write("my.toml", text);
    let expected = "\
error: my.toml, line 5: unknown key \"mesage\"
    4 | metric  = \"rtt\"
    5 | mesage  = [\"64 B\", \"64 KiB\"]
      | ^^^^^^ did you mean \"message\"?
  [E501, exit 2]
";
    for verb in ["check", "estimate", "run"] {
        assert_eq!(sandbox.run(&format!("plan {verb} my.toml")).ended(2).err, expected);
    }
}

#[test]
fn all_problems_are_shown_at_once() {
    let sandbox = Sandbox::new();
    let text = "v6gap = 1\n[design]\npairs = 1\n[[measure]]\nmetric = \"conect\"\n\
                [[measure]]\nmetric = \"rtt\"\nmessage = \"1 B\"\n";
    sandbox.write("my.toml", text);
    let ran = sandbox.run("plan check my.toml").ended(2);
    for line in [3, 5, 8] {
        assert!(ran.err.contains(&format!("error: my.toml, line {line}: ")), "{}", ran.err);
    }
    assert!(ran.err.contains("did you mean \"connect\"?"), "{}", ran.err);
    sandbox.write("broken.toml", "v6gap = \"\n");
    sandbox.run("plan check broken.toml").ended(2);
    sandbox.run("plan check nosuch.toml").ended(2);
}

#[test]
fn plans_that_come_with_the_program_are_listed_shown_checked_and_estimated() {
    let sandbox = Sandbox::new();
    let list = sandbox.run("plan list").ended(0).out;
    // Names stand at the start of a line, followed by two times; studies are words.
    let named = |line: &&str| !line.starts_with(' ') && line.contains("  ");
    let names: Vec<&str> =
        list.lines().filter(named).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names[..3], ["first-look", "null", "sizes"]);
    assert!(names.contains(&"sailan-window") && names.len() == 21, "{names:?}");
    assert!(list.contains("\nSoorty and Sarkar: "), "{list}");
    for name in names {
        let shown = sandbox.run(&format!("plan show {name}")).ended(0).out;
        sandbox.write("copy.toml", &shown);
        let by_name = sandbox.run(&format!("plan check {name}")).ended(0).out;
        assert_eq!(sandbox.run("plan check copy.toml").ended(0).out, by_name);
        let estimate = sandbox.run(&format!("plan estimate {name}")).ended(0).out;
        assert!(estimate.contains("Taken for granted"), "{estimate}");
    }
    sandbox.write("new.toml", &sandbox.run("plan new").ended(0).out);
    assert!(sandbox.run("plan check new.toml").ended(0).out.contains("My plan"));
    let wrong = sandbox.run("plan show size").ended(2);
    assert!(wrong.err.contains("\"sizes\" was meant"), "{wrong:?}");
}

#[test]
fn a_plan_is_measured_at_the_scale_that_is_asked_for() {
    let sandbox = Sandbox::new();
    let cells = |scale: &str| {
        let checked = sandbox.run(&format!("plan check sailan-window {scale}")).ended(0).out;
        let words = flat(&checked);
        (checked.lines().filter(|line| line.contains("throughput-tcp-")).count(), words)
    };
    let (whole, words) = cells("");
    assert_eq!(whole, 160);
    assert!(words.contains("Repeats sailan/window"), "{words}");
    assert!(words.contains("three consistent runs of five"), "{words}");
    assert!(!words.contains("Made smaller"), "{words}");
    let (small, words) = cells("--scale small");
    assert_eq!(small, 8);
    assert!(words.contains("6 pairs in place of 10, at most 2 levels of each factor"), "{words}");
    let (tenth, words) = cells("--scale 0.1");
    assert_eq!(tenth, 160);
    assert!(words.contains("Made smaller: 10 % of the bytes"), "{words}");
    assert!(words.contains("Measures 10 pairs"), "{words}");
    let wrong = sandbox.run("plan check sailan-window --scale tiny").ended(2);
    assert!(wrong.err.contains("neither small,"), "{wrong:?}");
    sandbox.write("mine.toml", "v6gap = 1\n[[measure]]\nmetric = \"connect\"\n");
    let wrong = sandbox.run("plan run mine.toml HOST --scale small").ended(2);
    assert!(wrong.err.contains("has no [small]"), "{wrong:?}");
}

#[test]
fn a_plan_is_said_back_in_words() {
    let sandbox = Sandbox::new();
    let text = "\
v6gap = 1
name = \"Slow line\"
[lab]
rate = \"10 Mbit/s\"
v6 = { delay = \"5 ms\" }
[design]
pairs = 12
seed = 3
margin = { rtt = \"2 %\" }
[[measure]]
metric = \"rtt\"
message = { from = \"64 B\", to = \"256 B\", factor = 2 }
[[measure]]
metric = \"throughput\"
direction = \"receive\"
congestion = \"reno\"
";
    sandbox.write("slow.toml", text);
    let shown = sandbox.run("plan check slow.toml").ended(0).out;
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    let words = flat(&shown);
    for expected in [
        "In a lab: client - router - server, wire links",
        "IPv4 10 Mbit/s; IPv6 10 Mbit/s, 5 ms more each way",
        "Measures 12 pairs of every cell.",
        "seed 3",
        "rtt 2 %",
        "Measures 4 cells",
        "rtt-tcp-128",
        "sends from the server over TCP",
        "congestion control reno",
    ] {
        assert!(words.contains(expected), "{expected} is missing:\n{shown}");
    }
}

#[test]
fn a_plan_that_would_end_before_its_verdicts_is_told_what_time_it_takes() {
    let sandbox = Sandbox::new();
    let plan = |time: &str| {
        format!("v6gap = 1\n[design]\nmax_time = \"{time}\"\n[[measure]]\nmetric = \"rtt\"\n")
    };
    sandbox.write("short.toml", &plan("5 s"));
    let checked = sandbox.run("plan check short.toml").ended(0).out;
    let (_, rest) = checked.split_once("max_time = \"").expect("a time is named");
    let (enough, _) = rest.split_once('"').expect("in quotes");
    assert!(checked.contains("too short for null blocks and"), "{checked}");
    sandbox.write("long.toml", &plan(enough));
    let checked = sandbox.run("plan check long.toml").ended(0).out;
    assert!(!checked.contains("too short"), "{checked}");
}

#[test]
fn an_estimate_counts_time_and_bytes() {
    let sandbox = Sandbox::new();
    let text = "v6gap = 1\n[design]\npairs = 20\nnull_blocks = 0\n[[measure]]\n\
                metric = \"throughput\"\ntime = \"1 s\"\n";
    sandbox.write("bulk.toml", text);
    let estimate = sandbox.run("plan estimate bulk.toml --rate 80M").ended(0).out;
    // 40 trials of 1 s and 10 MB each, and the rests between them.
    assert!(estimate.starts_with("Unnamed: 40.9 s, 400 MB.\n"), "{estimate}");
    assert!(estimate.contains("1 cell × 20 rounds = 20 blocks"), "{estimate}");
    assert!(estimate.contains("a round trip of 1 ms (--rate, --rtt)."), "{estimate}");
    // Who measures cannot say otherwise of the path.
    let dry = sandbox.run("run lab-b --dry-run").ended(0).out;
    assert!(dry.contains("Taken for granted") && !dry.contains("--rtt"), "{dry}");
    // As the help and `check` say, whatever time whole rounds fill.
    assert!(dry.starts_with("First look: at most 75 s, about "), "{dry}");
    let quick = sandbox.run("run lab-b --quick --dry-run").ended(0).out;
    assert!(quick.starts_with("First look: at most 20 s, about "), "{quick}");
    let demo = |options: &str| sandbox.run(&format!("demo{options} --dry-run")).ended(0).out;
    for (options, most) in [("", "2 min 30 s"), (" --for 75s", "75 s"), (" --quick", "20 s")] {
        let told = demo(options);
        assert!(told.starts_with(&format!("First look: at most {most}, about ")), "{told}");
    }
    let ran = sandbox.run("plan run bulk.toml").ended(2);
    assert!(ran.err.contains("names no server and no lab"), "{ran:?}");
}

#[test]
fn a_plan_that_visits_a_site_is_not_run() {
    let sandbox = Sandbox::new();
    let text = "v6gap = 1\n[site]\nurl = \"https://example.org/?a&b\"\nhttp = [\"2\"]\n\
                [[measure]]\nmetric = \"first-byte\"\n";
    sandbox.write("site.toml", text);
    sandbox.run("plan check site.toml").ended(0);
    for command in ["plan run site.toml", "plan run site.toml HOST", "plan run site.toml --dry-run"]
    {
        let ran = sandbox.run(command).ended(2);
        let does_it = "v6gap probe 'https://example.org/?a&b' --measure first-byte --http 2";
        assert!(ran.err.contains(does_it), "{ran:?}");
    }
}

/// Of a lab it is the line of the slower family, if that is measured.
#[test]
fn an_estimate_goes_by_the_slowest_line() {
    let sandbox = Sandbox::new();
    let granted = |arms: &str| {
        let text = format!(
            "v6gap = 1\n[lab]\nv6 = {{ rate = \"10 Mbit/s\" }}\n[design]\n\
             arms = [{arms}]\n[[measure]]\nmetric = \"throughput\"\n"
        );
        sandbox.write("slow-six.toml", &text);
        sandbox.run("plan estimate slow-six.toml").ended(0).out
    };
    let [both, alone] = ["\"v4\", \"v6\"", "\"v4\", \"v4\""].map(granted);
    assert!(both.contains("Taken for granted: 10 Mbit/s"), "{both}");
    assert!(alone.contains("Taken for granted: 100 Mbit/s"), "{alone}");
}

#[test]
fn a_time_that_is_too_short_is_noticed_in_advance() {
    let sandbox = Sandbox::new();
    let estimate = |rtt: &str| sandbox.run(&format!("plan estimate first-look --rtt {rtt}")).out;
    assert!(estimate("50us").contains("It ends sooner"), "{}", estimate("50us"));
    assert!(estimate("20ms").contains("too short for the 8 pairs"), "{}", estimate("20ms"));
}

#[test]
fn an_estimate_says_what_can_be_found_and_by_which_result() {
    let sandbox = Sandbox::new();
    let unknown = sandbox.run("plan estimate first-look lab-b").ended(0).out;
    assert!(unknown.contains("What it can find is not known"), "{unknown}");
    sandbox.store("7k2f9q", "lab-b", 1_763_560_962_000_000_000);
    // A run in a lab says nothing of a path to a host of the same name.
    let elsewhere = sandbox.run("plan estimate first-look lab-b").ended(0).out;
    assert!(elsewhere.contains("not known"), "{elsewhere}");
    let named = sandbox.run("plan estimate first-look --noise 7k2f9q").ended(0).out;
    assert!(named.contains("By the noise of result 7k2f9q to lab-b"), "{named}");
    assert!(named.contains("\nrtt-tcp-64 rtt "), "{named}");
    assert!(!named.contains("\nrtt-tcp-1024 rtt "), "that was not measured: {named}");
    let json =
        sandbox.run("plan estimate first-look --noise 7k2f9q --rtt 50us --json").ended(0).out;
    let told: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(told["noise_from"]["id"], "7k2f9q");
    let outlook = told["outlook"].as_array().unwrap();
    assert_eq!(outlook.len(), 2);
    for found in outlook {
        assert_eq!(found["seen"]["source"], "pairs");
        assert_eq!(found["seen"]["pairs"], 20);
        let sd = found["seen"]["sd"].as_f64().unwrap();
        let smallest = found["smallest"].as_f64().unwrap();
        // Twelve pairs find 0.93 of the deviation of one.
        assert!(0.0 < sd && 0.9 * sd < smallest && smallest < 0.01, "{found}");
    }
    // The stored run took place in the lab that this plan asks for.
    let lab = "v6gap = 1\n[lab]\n[design]\nprecision = { rtt = \"1 %\" }\n\
               [[measure]]\nmetric = \"rtt\"\nmessage = \"64 B\"\n";
    sandbox.write("lab.toml", lab);
    let same_lab = sandbox.run("plan estimate lab.toml").ended(0).out;
    assert!(same_lab.contains(" pairs (±1 %)"), "{same_lab}");
    assert!(same_lab.contains("By the noise of result 7k2f9q"), "{same_lab}");
    sandbox.run("plan estimate first-look --noise nosuch").ended(2);
}

/// Whoever wrote a plan that is read from standard input, as in a page, may not be allowed to read
/// the files of this computer.
#[test]
fn a_plan_without_a_folder_names_no_file() {
    let sandbox = Sandbox::new();
    sandbox.write("secret.toml", "password = 1\n");
    let plan = |world: &str| {
        format!("v6gap = 1\n[lab]\nworld = \"{world}\"\n[[measure]]\nmetric = \"connect\"\n")
    };
    let ran = sandbox.run_on("plan check -", &plan("secret.toml")).ended(2);
    assert!(ran.err.contains("no world is called \"secret.toml\""), "{}", ran.err);
    assert!(!ran.err.contains("password"), "{}", ran.err);
    sandbox.run_on("plan check -", &plan("switch")).ended(0);
}
