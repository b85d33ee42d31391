//! World files: TOML text to a world, with every problem placed at its line.

use crate::planfile::{PlanFileError, PlanProblem, place, written};
use crate::source;
use std::path::Path;
use v6gap_core::world::World;
use v6gap_core::world::draft::{self, Draft};

/// Keys of the language of worlds, to suggest the nearest one for an unknown key.
const KEYS: &[&str] = &[
    "v6gap",
    "description",
    "model",
    "families",
    "hosts",
    "routers",
    "switches",
    "client",
    "server",
    "priority",
    "vlan_tags",
    "snmp",
    "every",
    "links",
    "between",
    "mtu",
    "queue",
    "offloads",
    "rate",
    "delay",
    "jitter",
    "spread",
    "shape",
    "reorders",
    "loss",
    "bursts",
    "begin",
    "end",
    "duplication",
    "reordering",
    "share",
    "by",
    "back",
    "black_hole",
    "subnet",
    "v4",
    "v6",
    "tunnels",
    "kind",
    "over",
    "carries",
    "translation",
    "emulated",
];

/// Reads and checks the world in the file `path`.
///
/// # Errors
/// If the file cannot be read, is not TOML, or does not describe a world that can be made; all
/// problems at once.
pub fn read_world(path: &Path) -> Result<(Draft, World), PlanFileError> {
    let text = source::text(path)?;
    parse_world(&text).map_err(|problems| PlanFileError::Wrong {
        path: path.display().to_string(),
        text,
        problems,
    })
}

/// The world that a text describes, as [`read_world`].
///
/// # Errors
/// Every problem, with its line.
pub fn parse_world(text: &str) -> Result<(Draft, World), Vec<PlanProblem>> {
    let draft: Draft = written(text, KEYS)?;
    match draft::world(&draft) {
        Ok(world) => Ok((draft, world)),
        Err(problems) => Err(problems.into_iter().map(|p| place(text, p)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::family::{Family, PerFamily};
    use v6gap_core::world::{Bursts, Conditions, Jitter, LinkModel, Reordering, Spread, World};

    const DEMO: &str = "\
v6gap = 1
hosts = [\"client\", \"server\"]
routers = [\"router\"]
[every]
rate = \"100 Mbit/s\"
[[links]]
between = [\"client\", \"router\"]
[[links]]
between = [\"router\", \"server\"]
";

    /// The first line of a world of cables.
    const BARE: &str = "v6gap = 1\nmodel = \"bare\"";

    fn refused(text: &str) -> Vec<(usize, String)> {
        let problems = parse_world(text).unwrap_err();
        problems.into_iter().map(|problem| (problem.line, problem.what)).collect()
    }

    #[test]
    fn a_file_becomes_the_world_that_it_describes() {
        let (_, world) = parse_world(DEMO).unwrap();
        assert_eq!(world, World::client_router_server(LinkModel::Wire, Some(100_000_000)));
    }

    #[test]
    fn a_link_says_what_differs_from_every_link_and_a_family_from_its_link() {
        let more = "delay = \"2 ms\"\nmtu = 1400\nqueue = 7\nv4.subnet = \"192.0.2.0/24\"\n\
                    v6 = { rate = \"none\", loss = \"1 %\", black_hole = 1300 }\n";
        let (_, world) = parse_world(&format!("{DEMO}{more}")).unwrap();
        let [first, second] = [world.links[0], world.links[1]];
        assert_eq!((first.mtu, first.queue_frames, first.conditions.v6.delay_ns), (1500, 100, 0));
        assert_eq!((second.mtu, second.queue_frames), (1400, 7));
        let (v4, v6) = (second.conditions.v4, second.conditions.v6);
        assert_eq!((v4.rate_bps, v4.delay_ns, v4.loss), (Some(100_000_000), 2_000_000, 0.0));
        assert_eq!((v6.rate_bps, v6.delay_ns, v6.loss), (None, 2_000_000, 0.01));
        assert_eq!((v4.black_hole_above, v6.black_hole_above), (None, Some(1300)));
        assert_eq!(second.subnets.get(Family::V4).unwrap().to_string(), "192.0.2.0/24");
        assert_eq!(*second.subnets.get(Family::V6), None);
    }

    #[test]
    fn a_family_has_an_mtu_of_its_own() {
        let with = |every: &str, more: &str| {
            let text = DEMO.replace("[every]\n", &format!("[every]\n{every}"));
            let link = parse_world(&format!("{text}{more}")).unwrap().1.links[1];
            (link.mtu, Family::BOTH.map(|family| link.mtu_of(family)), link.mtus)
        };
        let none = PerFamily { v4: None, v6: None };
        assert_eq!(with("", ""), (1500, [1500, 1500], none));
        let six = PerFamily { v4: None, v6: Some(1280) };
        assert_eq!(with("", "v6.mtu = 1280\n"), (1500, [1500, 1280], six));
        // The interface takes the larger one.
        let four = PerFamily { v4: Some(576), v6: None };
        assert_eq!(with("", "v4.mtu = 576\nv6.mtu = 1400\n"), (1400, [576, 1400], four));
        // What a link says of both is in place of what every link says of one.
        assert_eq!(with("v6.mtu = 1280\n", "mtu = 1400\n"), (1400, [1400, 1400], none));
        assert_eq!(with("v6.mtu = 1280\n", ""), (1500, [1500, 1280], six));
    }

    #[test]
    fn a_queue_of_both_is_in_place_of_what_every_link_says_of_one() {
        let with = |every: &str, more: &str| {
            let text = DEMO.replace("[every]\n", &format!("[every]\n{every}"));
            let link = parse_world(&format!("{text}{more}")).unwrap().1.links[1];
            let back = link.back.unwrap_or(link.conditions);
            let of = |met: Conditions| met.queue_frames.unwrap_or(link.queue_frames);
            (of(link.conditions.v6), of(back.v4))
        };
        assert_eq!(with("v6.queue = 50\n", ""), (50, 100));
        assert_eq!(with("v6.queue = 50\n", "queue = 200\n"), (200, 200));
        assert_eq!(with("v6.queue = 50\n", "queue = 200\nv6.queue = 20\n"), (20, 200));
        assert_eq!(with("back = { queue = 10 }\n", ""), (100, 10));
        assert_eq!(with("back = { queue = 10 }\n", "queue = 200\n"), (200, 200));
    }

    #[test]
    fn a_tunnel_says_what_is_put_into_what() {
        let with =
            |more: &str| format!("{DEMO}[[tunnels]]\nbetween = [\"client\", \"router\"]\n{more}");
        let tunnel = |more: &str| parse_world(&with(more)).unwrap().1.tunnels[0];
        let six = tunnel("kind = \"ip-in-ip\"\nover = \"v4\"\ncarries = [\"v6\"]\n");
        assert_eq!(six.ends, [0, 1]);
        assert_eq!(six.tunnel.to_string(), "ip-in-ip over IPv4");
        assert_eq!((six.carries.v4, six.carries.v6), (false, true));
        let routed = tunnel("kind = \"segment-routing\"\n");
        assert_eq!((routed.tunnel.outer, routed.carries.v4), (Family::V6, true));
        for (more, line, expected) in [
            ("kind = \"gre\"\n", 10, "over which family?"),
            ("over = \"v4\"\n", 10, "which kind?"),
            ("kind = \"gred\"\nover = \"v4\"\n", 12, "\"gred\" is not one of ip-in-ip, gre"),
            ("kind = \"gre\"\nover = \"v5\"\n", 13, "\"v5\" is not one of v4, v6"),
            ("kind = \"gre\"\nover = \"v4\"\ncarries = [\"x\"]\n", 14, "\"x\" is not one"),
            ("kind = \"segment-routing\"\nover = \"v4\"\n", 10, "is not made over IPv4"),
        ] {
            let found = refused(&with(more));
            let right = |(at, what): &(usize, String)| *at == line && what.contains(expected);
            assert!(found.iter().any(right), "{more}: {found:?}");
        }
    }

    #[test]
    fn translation_says_of_which_kind_and_where() {
        let with = |what: &str| DEMO.replace("[every]", &format!("translation = {what}\n[every]"));
        let (_, world) = parse_world(&with(r#"{ kind = "464xlat", at = "router" }"#)).unwrap();
        let translation = world.translation.unwrap();
        assert_eq!(
            (translation.kind.name(), translation.at, translation.client),
            ("464xlat", 1, 0)
        );
        for (written, expected) in [
            (r#"{ kind = "nat64" }"#, "at which router?"),
            (r#"{ at = "router" }"#, "which kind? one of nat64, 464xlat"),
            (r#"{ kind = "nat46", at = "router" }"#, "\"nat46\" is not one of nat64, 464xlat"),
            (r#"{ kind = "nat64", at = "rooter" }"#, "\"rooter\" is not one of"),
            (r#"{ kind = "nat64", at = "server" }"#, "server is not a router"),
        ] {
            let found = refused(&with(written));
            let right = |(at, what): &(usize, String)| *at == 4 && what.contains(expected);
            assert!(found.iter().any(right), "{written}: {found:?}");
        }
    }

    #[test]
    fn a_host_may_be_another_system() {
        let with =
            |written: &str| DEMO.replace("[every]", &format!("emulated = {written}\n[every]"));
        let (_, world) = parse_world(&with("{ at = \"server\" }")).unwrap();
        assert_eq!(world.emulated(), world.find("server"));
        for (written, line, expected) in [
            ("{}", 4, "which host?"),
            ("{ at = \"sever\" }", 4, "did you mean"),
            ("{ at = \"client\" }", 2, "is not the server"),
            ("{ at = \"router\" }", 3, "is no host"),
            ("{ on = \"server\" }", 4, "unknown key"),
        ] {
            let problems = parse_world(&with(written)).unwrap_err();
            let text = format!("{problems:?}");
            assert!(problems[0].line == line && text.contains(expected), "{written}: {text}");
        }
    }

    #[test]
    fn nodes_may_be_managed_but_not_switches() {
        let with = |nodes: &str| DEMO.replace("[every]", &format!("snmp = {nodes}\n[every]"));
        let (_, world) = parse_world(&with("[\"router\"]")).unwrap();
        let managed: Vec<bool> = world.nodes.iter().map(|node| node.snmp).collect();
        assert_eq!(managed, [false, true, false]);
        let problems = parse_world(&with("[\"ruoter\"]")).unwrap_err();
        assert!(format!("{problems:?}").contains("did you mean"), "{problems:?}");
        let text = with("[\"router\"]").replace("routers =", "switches =");
        let problems = parse_world(&text).unwrap_err();
        assert!(format!("{problems:?}").contains("has no address"), "{problems:?}");
    }

    #[test]
    fn a_direction_says_what_differs_from_its_link() {
        let more = "delay = \"2 ms\"\njitter = { spread = \"1 ms\" }\nv6.loss = \"1 %\"\n\
                    bursts = { begin = \"0.5 %\", end = \"20 %\" }\nduplication = \"2 %\"\n\
                    back = { rate = \"5 Mbit/s\", queue = 9, v6.queue = 7, delay = \"8 ms\",\n\
                    jitter = { spread = \"2 ms\", shape = \"normal\", reorders = true },\n\
                    reordering = { share = \"3 %\", by = \"4 ms\" } }\n";
        let text = DEMO.replace("[every]", "priority = [\"EF\", \"8\"]\nvlan_tags = 1\n[every]");
        let (_, world) = parse_world(&format!("{text}{more}")).unwrap();
        assert_eq!((world.priority.as_slice(), world.vlan_tags), ([46, 8].as_slice(), 1));
        let link = world.links[1];
        let (there, back) = (link.conditions.v6, link.back.unwrap());
        let jitter = |spread_ns, spread, reorders| Some(Jitter { spread_ns, spread, reorders });
        assert_eq!(there.jitter, jitter(1_000_000, Spread::Uniform, false));
        assert_eq!(there.bursts, Some(Bursts { begin: 0.005, end: 0.2, loss: 1.0 }));
        assert_eq!((there.duplication, there.reordering, there.queue_frames), (0.02, None, None));
        assert_eq!((there.loss, link.conditions.v4.loss, back.v6.loss), (0.01, 0.0, 0.01));
        assert_eq!((there.rate_bps, back.v4.rate_bps), (Some(100_000_000), Some(5_000_000)));
        assert_eq!(back.v4.jitter, jitter(2_000_000, Spread::Normal, true));
        assert_eq!(back.v4.bursts, there.bursts);
        assert_eq!(back.v4.reordering, Some(Reordering { share: 0.03, by_ns: 4_000_000 }));
        assert_eq!((back.v4.queue_frames, back.v6.queue_frames), (Some(9), Some(7)));
        assert_eq!(world.links[0].back, None);
        let told = |more: &str, part: &str| {
            let problems = refused(&format!("{DEMO}{more}"));
            assert!(problems.iter().any(|(_, what)| what.contains(part)), "{problems:?}");
        };
        told("jitter = { spread = \"1 ms\", shape = \"odd\" }\n", "one of uniform, normal");
        told("back = { mtu = 1400 }\n", "links[1].back.mtu: it belongs to the link as a whole");
        told(
            "back = { v6 = { subnet = \"fd01::/64\" } }\n",
            "links[1].back.v6.subnet: both directions of a link have the same subnet",
        );
        told("jitter = { spread = \"1 ms\" }\n", "more than the delay of 0 ns");
        told("bursts = { begin = \"x\", end = \"1 %\" }\n", "links[1].bursts.begin");
    }

    #[test]
    fn nodes_are_put_in_the_order_of_the_path() {
        let text = "v6gap = 1\nmodel = \"bare\"\nhosts = [\"b\", \"x\", \"a\"]\n\
                    routers = [\"r2\", \"r1\"]\nclient = \"a\"\nserver = \"b\"\n\
                    links = [{ between = [\"b\", \"r2\"] }, { between = [\"r1\", \"r2\"] },\n\
                    { between = [\"x\", \"r1\"] }, { between = [\"a\", \"r1\"] }]\n";
        let (_, world) = parse_world(text).unwrap();
        let names: Vec<&str> = world.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["a", "r1", "r2", "b", "x"]);
        assert_eq!((world.client, world.server), (0, 3));
        assert_eq!(world.links[0].ends, [3, 2]);
        assert_eq!(world.path_nodes(), [0, 1, 2, 3]);
    }

    #[test]
    fn every_problem_is_told_with_its_line() {
        let text = DEMO
            .replace("100 Mbit/s", "fast")
            .replace("[\"router\", \"server\"]", "[\"router\", \"servr\"]\nloss = \"x\"");
        let problems = refused(&text);
        let told = |line: usize, part: &str| {
            let found = problems.iter().filter(|(at, what)| *at == line && what.contains(part));
            assert_eq!(found.count(), 1, "{part} in {problems:?}");
        };
        told(5, "every.rate: ");
        told(9, "links[1].between: \"servr\" is not one of client, server, router");
        told(10, "links[1].loss: ");
        assert_eq!(problems.len(), 3, "{problems:?}");
    }

    #[test]
    fn what_cannot_be_made_is_told_where_it_is_written() {
        assert_eq!(refused(&DEMO.replace("rate =", "rat =")), [(5, "unknown key \"rat\"".into())]);
        let told = |text: &str, line: usize, part: &str| {
            let problems = refused(text);
            assert!(problems.iter().any(|(l, w)| *l == line && w.contains(part)), "{problems:?}");
        };
        told(&DEMO.replace("[every]", "model = \"bare\"\n[every]"), 7, "has a rate, which needs");
        // A cable has no line to wait for, whether every link says so or one of them.
        let bare = DEMO.replace("rate = \"100 Mbit/s\"", "").replace("v6gap = 1", BARE);
        assert!(parse_world(&bare).is_ok());
        told(&bare.replace("[every]", "[every]\nqueue = 50"), 8, "has a queue length, which needs");
        told(&format!("{bare}queue = 50\n"), 9, "has a queue length, which needs the shaped");
        told(&format!("{bare}v6.queue = 50\n"), 9, "has a queue length, which needs the shaped");
        told(&format!("{DEMO}mtu = 99\n"), 8, "IPv6 needs an MTU of at least 1280");
        told(&format!("{DEMO}v6.mtu = 99\n"), 8, "IPv6 needs an MTU of at least 1280");
        told(&format!("{DEMO}back.v6.mtu = 1300\n"), 10, "both directions of a link have the same");
        told(&format!("{DEMO}subnet = \"192.0.2.0/24\"\n"), 10, "a subnet is of one family");
        told(&format!("{DEMO}v6.subnet = \"192.0.2.0/24\"\n"), 8, "no subnet of IPv6");
        told(&DEMO.replace("v6gap = 1", "v6gap = 2"), 1, "version 2");
        told(
            &DEMO.replace("hosts = [\"client\", ", "hosts = [\"client\", \"alone\", "),
            2,
            "no link",
        );
        told(&DEMO.replace("routers = [\"router\"]", "hosts2 = 1"), 3, "unknown key");
        let switched = DEMO
            .replace("routers", "switches")
            .replace("[[links]]\nbetween = [\"r", "mtu = 1400\n[[links]]\nbetween = [\"r");
        told(&switched, 9, "one MTU");
    }
}
