//! A real Chromium without a window, driven over the DevTools protocol through two pipes.

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Longest that a page may take to become what a test waits for, in ms.
const PATIENCE_MS: u64 = 60_000;

/// Programs that are Chromium, the first that exists.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// The browser.
pub struct Chromium {
    child: Child,
    to: File,
    from: BufReader<File>,
    next: u64,
    /// Addresses that were asked for.
    pub asked: Vec<String>,
    folder: PathBuf,
}

/// A page of it.
#[derive(Debug, Clone)]
pub struct Tab {
    session: String,
    /// The world of a frame in it, if that is meant.
    world: Option<u64>,
}

impl Chromium {
    /// Starts it; `None` if this computer has none.
    pub fn start(folder: &Path) -> Option<Chromium> {
        let named = std::env::var("V6GAP_CHROMIUM").ok();
        let program = named.or_else(|| NAMES.into_iter().find(|n| exists(n)).map(str::to_owned))?;
        let folder = folder.join("chromium");
        std::fs::create_dir_all(&folder).unwrap();
        let [to, from] = ["to", "from"].map(|name| folder.join(name));
        for pipe in [&to, &from] {
            assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
        }
        let script = "exec \"$1\" --headless=new --no-sandbox --disable-gpu \
                      --disable-dev-shm-usage \
                      --no-first-run --disable-background-networking --disable-component-update \
                      --disable-sync --disable-default-apps --force-device-scale-factor=1 \
                      --hide-scrollbars --disable-lcd-text \
                      --font-render-hinting=none \
                      --remote-debugging-pipe --user-data-dir=\"$2\" about:blank 3<\"$3\" 4>\"$4\"";
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh", &program]).arg(folder.join("profile")).args([&to, &from]);
        // The same letters everywhere.
        command.env("FONTCONFIG_FILE", fonts(&folder));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = child.spawn().unwrap();
        // Each waits for the other end, in the order in which the shell opens them.
        let to = OpenOptions::new().write(true).open(&to).unwrap();
        let from = BufReader::new(File::open(&from).unwrap());
        Some(Chromium { child, to, from, next: 0, asked: Vec::new(), folder })
    }

    fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        let told = self.told(session, method, params);
        assert!(told["error"].is_null(), "{method}: {told}");
        told["result"].clone()
    }

    /// The answer to a command, which may be an error.
    fn told(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).unwrap();
            assert_eq!(bytes.pop(), Some(0), "the browser ended");
            let told: Value = serde_json::from_slice(&bytes).unwrap();
            if told["method"] == "Network.requestWillBeSent" {
                let url = told["params"]["request"]["url"].as_str().unwrap();
                self.asked.push(url.to_owned());
            }
            if told["id"] == self.next {
                return told;
            }
        }
    }

    /// Opens a page; `alone` without what the others keep.
    pub fn open(&mut self, url: &str, alone: bool) -> Tab {
        let mut wanted = json!({"url": "about:blank"});
        if alone {
            let context = self.call(None, "Target.createBrowserContext", json!({}));
            wanted["browserContextId"] = context["browserContextId"].clone();
        }
        let target = self.call(None, "Target.createTarget", wanted)["targetId"].clone();
        let attached = json!({"targetId": target, "flatten": true});
        let session = self.call(None, "Target.attachToTarget", attached)["sessionId"].clone();
        let tab = Tab { session: session.as_str().unwrap().to_owned(), world: None };
        for method in ["Page.enable", "Runtime.enable", "Network.enable"] {
            self.call(Some(&tab.session), method, json!({}));
        }
        let everywhere = [
            ("Emulation.setLocaleOverride", json!({"locale": "en-GB"})),
            ("Emulation.setTimezoneOverride", json!({"timezoneId": "UTC"})),
        ];
        for (method, params) in everywhere {
            self.call(Some(&tab.session), method, params);
        }
        self.size(&tab, 1280, 800);
        self.call(Some(&tab.session), "Page.navigate", json!({ "url": url }));
        tab
    }

    /// The frame in the page whose address ends so but for a ticket; it has a process of its own or
    /// not.
    pub fn frame(&mut self, tab: &Tab, ending: &str) -> Tab {
        let path = |url: &str| url.split('?').next().is_some_and(|path| path.ends_with(ending));
        let is = |info: &Value| info["url"].as_str().is_some_and(path);
        let apart = self.call(None, "Target.getTargets", json!({"filter": [{"type": "iframe"}]}));
        if let Some(info) = apart["targetInfos"].as_array().unwrap().iter().find(|info| is(info)) {
            let wanted = json!({"targetId": info["targetId"], "flatten": true});
            let session = self.call(None, "Target.attachToTarget", wanted)["sessionId"].clone();
            return Tab { session: session.as_str().unwrap().to_owned(), world: None };
        }
        let tree = self.call(Some(&tab.session), "Page.getFrameTree", json!({}));
        let frames = tree["frameTree"]["childFrames"].as_array().unwrap();
        let frame = frames.iter().map(|child| &child["frame"]).find(|frame| is(frame)).unwrap();
        let wanted = json!({"frameId": frame["id"]});
        let world = self.call(Some(&tab.session), "Page.createIsolatedWorld", wanted);
        let world = world["executionContextId"].as_u64();
        assert!(world.is_some());
        Tab { session: tab.session.clone(), world }
    }

    /// Gives the page another size.
    pub fn size(&mut self, tab: &Tab, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call(Some(&tab.session), "Emulation.setDeviceMetricsOverride", size);
    }

    /// Leaves the page, which asks for nothing any more then.
    pub fn leave(&mut self, tab: &Tab) {
        self.call(Some(&tab.session), "Page.navigate", json!({"url": "about:blank"}));
    }

    pub fn reload(&mut self, tab: &Tab) {
        self.call(Some(&tab.session), "Page.reload", json!({}));
    }

    /// The value of an expression, waited for if it is a promise.
    pub fn value(&mut self, tab: &Tab, expression: &str) -> Value {
        let mut asked = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true,
            "userGesture": true,
        });
        if let Some(world) = tab.world {
            asked["contextId"] = world.into();
        }
        let told = loop {
            let told = self.told(Some(&tab.session), "Runtime.evaluate", asked.clone());
            // Asked while the page gave way to the next one: that one is meant.
            let gone = told["error"]["message"].as_str().unwrap_or_default();
            if !["navigated", "destroyed", "context"].iter().any(|word| gone.contains(word)) {
                assert!(told["error"].is_null(), "{expression}: {told}");
                break told["result"].clone();
            }
        };
        assert!(told["exceptionDetails"].is_null(), "{expression}: {told}");
        told["result"]["value"].clone()
    }

    /// Waits until an expression is true; tells how long it took, in ms.
    #[track_caller]
    pub fn until(&mut self, tab: &Tab, expression: &str) -> u64 {
        let waiting = format!(
            "new Promise((done) => {{ const start = performance.now(); const look = () => {{
               let is = false; try {{ is = {expression}; }} catch {{}}
               const took = performance.now() - start;
               if (is) done(Math.round(took)); else if (took > {PATIENCE_MS}) done(-1);
               else setTimeout(look, 30); }}; look(); }})"
        );
        let took = self.value(tab, &waiting).as_i64().unwrap();
        if took < 0 {
            let page = self.value(tab, "document.body.innerText");
            panic!("never: {expression}\n{}", page.as_str().unwrap_or_default());
        }
        took as u64
    }

    /// Types text into what has the focus.
    pub fn type_in(&mut self, tab: &Tab, text: &str) {
        self.call(Some(&tab.session), "Input.insertText", json!({ "text": text }));
    }

    /// Presses Enter.
    pub fn enter(&mut self, tab: &Tab) {
        for kind in ["keyDown", "keyUp"] {
            let key = json!({"type": kind, "key": "Enter", "code": "Enter", "text": "\r",
                             "windowsVirtualKeyCode": 13});
            self.call(Some(&tab.session), "Input.dispatchKeyEvent", key);
        }
    }

    /// Presses a key without a letter, as in `ArrowDown`.
    pub fn press(&mut self, tab: &Tab, key: &str) {
        let number = match key {
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            other => panic!("no key {other}"),
        };
        for kind in ["rawKeyDown", "keyUp"] {
            let key = json!({"type": kind, "key": key, "code": key,
                             "windowsVirtualKeyCode": number});
            self.call(Some(&tab.session), "Input.dispatchKeyEvent", key);
        }
    }

    /// Everything in the page that keeps people from using it, by axe-core.
    pub fn barriers(&mut self, tab: &Tab) -> Vec<String> {
        self.value(tab, include_str!("axe.min.js"));
        let run = "axe.run(document, {iframes: false}).then((r) => r.violations.flatMap((v) => \
                   v.nodes.map((n) => `${v.id}: ${n.html} (${n.failureSummary})`)))";
        let found = self.value(tab, run);
        found.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
    }

    /// The page as a PNG, from its top.
    pub fn picture(&mut self, tab: &Tab, size: (u32, u32)) -> Vec<u8> {
        let clip = json!({"x": 0, "y": 0, "width": size.0, "height": size.1, "scale": 1});
        let asked = json!({"format": "png", "clip": clip});
        let told = self.call(Some(&tab.session), "Page.captureScreenshot", asked);
        base64(told["data"].as_str().unwrap())
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The only fonts that pages find: those of the figures.
fn fonts(folder: &Path) -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/fonts");
    let file = folder.join("fonts.conf");
    let text = format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE fontconfig SYSTEM \"fonts.dtd\">\n\
         <fontconfig><dir>{}</dir><cachedir>{}</cachedir></fontconfig>\n",
        own.display(),
        folder.join("fonts").display()
    );
    std::fs::write(&file, text).unwrap();
    file
}

fn base64(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let four = |letters: &[u8]| {
        let bits = letters.iter().fold(0, |bits, &letter| bits << 6 | u32::from(value(letter)));
        let bits = bits << (6 * (4 - letters.len()));
        bits.to_be_bytes()[1..letters.len()].to_vec()
    };
    text.trim_end_matches('=').as_bytes().chunks(4).flat_map(four).collect()
}

fn exists(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}
