//! Worlds: problems in their place, worlds in words, drawings; nothing here makes a network.

use crate::support::Sandbox;

#[test]
fn a_problem_of_a_world_is_shown_in_its_place() {
    let sandbox = Sandbox::new();
    let text = "v6gap = 1\nhosts = [\"client\", \"server\"]\n\n[[links]]\n\
                between = [\"client\", \"server\"]\nrat = \"1 Gbit/s\"\n";
    sandbox.write("my.toml", text);
    let expected = "\
error: my.toml, line 6: unknown key \"rat\"
    5 | between = [\"client\", \"server\"]
    6 | rat = \"1 Gbit/s\"
      | ^^^ did you mean \"rate\"?
  [E501, exit 2]
";
    for verb in ["check", "up", "graph"] {
        assert_eq!(sandbox.run(&format!("lab {verb} my.toml")).ended(2).err, expected);
    }
    assert_eq!(sandbox.run("run --lab my.toml").ended(2).err, expected);
    let ran = sandbox.run("lab check nosuch").ended(2);
    assert!(ran.err.contains("no world is called \"nosuch\""), "{}", ran.err);
}

#[test]
fn worlds_that_come_with_the_program_are_listed_shown_checked_and_drawn() {
    let sandbox = Sandbox::new();
    let list = sandbox.run("lab list --worlds").ended(0).out;
    let names: Vec<&str> = list.lines().filter_map(|line| line.split(' ').next()).collect();
    for name in ["cable", "switch", "one-router", "two-routers", "three-routers", "dumb-bell"] {
        assert!(names.contains(&name), "{list}");
    }
    for name in names {
        let shown = sandbox.run(&format!("lab show {name}")).ended(0).out;
        sandbox.write("copy.toml", &shown);
        let by_name = sandbox.run(&format!("lab check {name}")).ended(0).out;
        assert_eq!(sandbox.run("lab check copy.toml").ended(0).out, by_name);
        let drawn = sandbox.run(&format!("lab graph {name}")).ended(0).out;
        assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"), "{drawn}");
        sandbox.run(&format!("lab graph copy.toml -o {name}.svg")).ended(0);
        assert_eq!(sandbox.read(&format!("{name}.svg")), drawn);
    }
    let wrong = sandbox.run("lab show dumbell").ended(2);
    assert!(wrong.err.contains("\"dumb-bell\" was meant"), "{wrong:?}");
}

/// Whether or not this host lets anybody build a lab: programs that are not there are what is said
/// first, with how to get them.
#[test]
fn what_is_not_installed_is_said_with_how_to_get_it() {
    let sandbox = Sandbox::new();
    let nowhere = sandbox.path("nowhere");
    let variables = [("PATH", nowhere.as_path()), ("HOME", nowhere.as_path())];
    let told = sandbox.run_with("lab list --kinds --json", &variables).ended(0).out;
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let kinds = told["kinds"].as_array().unwrap();
    if kinds[0]["name"] == "labs" {
        return; // No system for labs at all.
    }
    let programs = [
        ("wireguard", "wireguard-go", "wireguard-go"),
        ("esp", "swanctl", "strongswan-swanctl"),
        ("translation", "tayga", "tayga"),
        #[cfg(target_arch = "x86_64")]
        ("emulation", "qemu-system-x86_64", "qemu-system-x86"),
    ];
    for (name, program, package) in programs {
        let kind = kinds.iter().find(|kind| kind["name"] == name).unwrap();
        assert_eq!(kind["available"], false);
        let because = kind["because"].as_str().unwrap();
        let expected = format!("`{program}` is not installed: sudo apt install {package}");
        assert_eq!(because, expected);
    }
    for name in ["ip-in-ip", "gre", "vxlan", "segment-routing", "netem"] {
        let kind = kinds.iter().find(|kind| kind["name"] == name).unwrap();
        assert_eq!(kind["available"].as_bool().unwrap(), kind["because"].is_null(), "{kind}");
    }
    let text = sandbox.run_with("lab list --kinds", &variables).ended(0).out;
    assert!(text.contains("unavailable, because `tayga` is not installed"), "{text}");
    // Both before anything is sent: no lab at all, or none of this world.
    let ran = sandbox.run_with("run --lab nat64", &variables);
    let lacks = ran.err.contains("`tayga` is not installed") && ran.err.contains("[E304,");
    assert!(lacks || ran.err.contains("[E301,"), "{ran:?}");
}

#[test]
fn lists_are_written_as_json() {
    let sandbox = Sandbox::new();
    let told = sandbox.run("lab list --worlds --json").ended(0).out;
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let world = told["worlds"].as_array().unwrap().iter().find(|world| world["name"] == "6in4");
    let description = "IPv6 in IPv4 between two routers (6in4)";
    assert_eq!(world.unwrap()["description"], description);
}

#[test]
fn a_world_is_said_back_in_words() {
    let sandbox = Sandbox::new();
    let said = sandbox.run("lab check slower-v6").ended(0).out;
    for part in ["IPv6 has half the rate", "client - router - server", "IPv6 50 Mbit/s"] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_plan_names_a_world_beside_it_or_one_of_the_program() {
    let sandbox = Sandbox::new();
    let world = "v6gap = 1\nhosts = [\"client\", \"server\"]\nlinks = [\n\
                 { between = [\"client\", \"server\"], rate = \"7 Mbit/s\" }]\n";
    sandbox.write("mine.toml", world);
    let plan = |lab: &str| format!("v6gap = 1\n[lab]\n{lab}\n[[measure]]\nmetric = \"rtt\"\n");
    for (lab, part) in
        [("world = \"mine.toml\"", "7 Mbit/s"), ("world = \"two-routers\"", "router1 - router2")]
    {
        sandbox.write("plan.toml", &plan(lab));
        let said = sandbox.run("plan check plan.toml").ended(0).out;
        assert!(said.contains(part), "{said}");
    }
    for (lab, part) in [
        ("world = \"nosuch\"", "line 3: lab.world: no world is called"),
        ("world = \"cable\"\nmodel = \"bare\"", "line 2: lab: a world says all of the lab"),
    ] {
        sandbox.write("plan.toml", &plan(lab));
        let ran = sandbox.run("plan check plan.toml").ended(2);
        assert!(ran.err.contains(part), "{}", ran.err);
    }
}

#[test]
fn a_lab_that_is_not_up_is_an_error_of_its_own() {
    let sandbox = Sandbox::new();
    for verb in ["status", "graph", "down"] {
        let ran = sandbox.run(&format!("lab {verb} --name nosuch")).ended(2);
        assert!(ran.err.contains("no lab called `nosuch` is up"), "{verb}: {ran:?}");
        assert!(ran.err.contains("v6gap lab list"), "{verb}: {ran:?}");
        assert!(ran.err.ends_with("  [E310, exit 2]\n"), "{verb}: {ran:?}");
    }
}

#[test]
fn nodes_that_a_lab_does_not_have_are_refused() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("run --lab switch --from switch").ended(2);
    assert!(ran.err.contains("no host or router called \"switch\""), "{}", ran.err);
    let ran = sandbox.run("run --lab cable --from client --to client").ended(2);
    assert!(ran.err.contains("client and server are the same"), "{}", ran.err);
    sandbox.run("run --from client").ended(2);
    sandbox.run("run lab-b --lab cable").ended(2);
}
