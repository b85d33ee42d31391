//! Real servers of websites in a lab, as packages of Debian have them: they speak to visitors of
//! any program.

use super::support::{Home, text};
use super::two_hosts::{Lab, Server};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The name of the site.
pub const NAME: &str = "site.example";

/// Its port.
pub const PORT: u16 = 8443;

/// Addresses of the lab's server.
pub const AT: [&str; 2] = ["10.46.2.2", "fd46:2::2"];

/// Where `cargo xtask test --setup` puts the servers.
const SERVERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/servers");

/// A server's program.
pub fn program(name: &str) -> PathBuf {
    let places = ["usr/bin", "usr/sbin"].map(|place| Path::new(SERVERS).join(place).join(name));
    let found = places.into_iter().find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("{name}: cargo xtask test --setup brings it"))
}

/// Words in front of a program that needs libraries which came with it.
pub fn with_libraries() -> [String; 2] {
    let places = ["lib", "usr/lib"].map(|place| Path::new(SERVERS).join(place));
    let folders = places.iter().filter_map(|place| std::fs::read_dir(place).ok()).flatten();
    let folders = folders.flatten().map(|folder| folder.path().display().to_string());
    let folders = folders.collect::<Vec<_>>().join(":");
    ["env".to_owned(), format!("LD_LIBRARY_PATH={folders}")]
}

/// caddy with HTTP/1.1, 2 and 3 and a certificate of its own making. It is too busy for one path,
/// and leads from another to its first page.
pub fn caddy(lab: &Lab, home: &Home) -> Server {
    let config = home.path().join("Caddyfile");
    let text = format!(
        "{{\n admin off\n auto_https disable_redirects\n skip_install_trust\n \
         default_sni {NAME}\n}}\n\
         https://{NAME}:{PORT} {{\n tls internal\n redir /moved /\n \
         header /busy Retry-After 5\n respond /busy \"later\" 429\n \
         respond \"what is asked for\"\n}}\n"
    );
    std::fs::write(&config, text).unwrap();
    let mut command = lab.exec(home, "server");
    command.arg(program("caddy")).args(["run", "--adapter", "caddyfile", "--config"]);
    command.arg(&config).env("HOME", home.path()).env("XDG_DATA_HOME", home.path());
    ready(command.stderr(Stdio::piped()), "serving initial configuration")
}

/// nginx with HTTP/1.1 and 2, and TLS of one version.
pub fn nginx(lab: &Lab, home: &Home, tls: &str) -> Server {
    nginx_with(lab, home, tls, "")
}

/// The same with further directives of the site.
pub fn nginx_with(lab: &Lab, home: &Home, tls: &str, more: &str) -> Server {
    let [four, six] = AT;
    let listen = format!("listen {four}:{PORT} ssl http2; listen [{six}]:{PORT} ssl http2;");
    let site = format!("{listen} {} ssl_protocols {tls}; {more}", certified(home, "site"));
    nginx_of(lab, home, &[site])
}

/// nginx's folder, with the certificates in it.
fn folder(home: &Home) -> PathBuf {
    let folder = home.path().join("nginx");
    std::fs::create_dir_all(folder.join("logs")).unwrap();
    folder
}

/// Makes a certificate under a name, by more words of openssl, and returns its directives.
fn made(home: &Home, name: &str, subject: &str, more: &[&str]) -> String {
    let (key, certificate) = (format!("{name}.key"), format!("{name}.crt"));
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]);
    openssl.args(["-nodes", "-days", "2", "-keyout", &key, "-out", &certificate]);
    openssl.args(["-subj", &format!("/CN={subject}")]).args(more);
    let made = openssl.current_dir(folder(home)).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    format!("ssl_certificate {certificate}; ssl_certificate_key {key};")
}

/// Directives of a certificate of its own for the site, which is made under this name.
pub fn certified(home: &Home, name: &str) -> String {
    made(home, name, NAME, &[])
}

/// Makes somebody who certifies hosts; the file by which a program trusts them.
pub fn authority(home: &Home) -> PathBuf {
    made(home, "authority", "authority", &[]);
    folder(home).join("authority.crt")
}

/// Directives of a certificate that the authority gives a host, made under this name.
pub fn certified_for(home: &Home, name: &str, host: &str) -> String {
    let settings = format!(
        "[req]\ndistinguished_name = subject\nx509_extensions = host\n[subject]\n\
         [host]\nbasicConstraints = critical,CA:FALSE\nsubjectAltName = DNS:{host}\n"
    );
    let file = format!("{name}.cnf");
    std::fs::write(folder(home).join(&file), settings).unwrap();
    let by = ["-config", &file, "-CA", "authority.crt", "-CAkey", "authority.key"];
    made(home, name, host, &by)
}

/// nginx with these sites, each as directives, which may limit who asks often (`limit_req`).
pub fn nginx_of(lab: &Lab, home: &Home, sites: &[String]) -> Server {
    nginx_at(lab, home, "server", sites)
}

/// The same in a node of the lab; each needs a folder of its own.
pub fn nginx_at(lab: &Lab, home: &Home, node: &str, sites: &[String]) -> Server {
    let folder = folder(home);
    let answer = "location / { return 200 \"what is asked for\\n\"; }";
    let of = |site: &String| format!("server {{ server_name {NAME}; {site} {answer} }}\n");
    let sites: String = sites.iter().map(of).collect();
    let text = format!(
        "user root;\ndaemon off;\nmaster_process off;\nerror_log stderr notice;\npid nginx.pid;\n\
         events {{}}\nhttp {{\n access_log off;\n \
         client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;\n \
         uwsgi_temp_path uwsgi; scgi_temp_path scgi;\n \
         limit_req_zone $server_name zone=all:64k rate=1r/m;\n{sites}}}\n"
    );
    std::fs::write(folder.join("nginx.conf"), text).unwrap();
    let mut command = lab.exec(home, node);
    command.arg(program("nginx")).arg("-p").arg(&folder).args(["-c", "nginx.conf"]);
    ready(command.stderr(Stdio::piped()), "using the \"epoll\" event method")
}

/// Starts a server, and waits until it says so where it is piped.
pub fn ready(command: &mut Command, said: &str) -> Server {
    let mut child = command.spawn().unwrap();
    let told: Box<dyn Read + Send> = match (child.stdout.take(), child.stderr.take()) {
        (Some(out), _) => Box::new(out),
        (None, told) => Box::new(told.unwrap()),
    };
    let mut lines = BufReader::new(told).lines().map_while(Result::ok);
    let mut before = Vec::new();
    let found = lines.by_ref().any(|line| {
        let is_it = line.contains(said);
        before.push(line);
        is_it
    });
    assert!(found, "{before:?}");
    // Read and dropped, so that the server never meets a closed pipe.
    std::thread::spawn(move || lines.for_each(drop));
    Server(child)
}

/// The address that curl takes to the site, and after how many ms its connection stands.
pub fn curl(mut curl: Command, more: &[&str]) -> (String, f64) {
    curl.args(["curl", "-sk", "-o", "/dev/null", "-w", "%{remote_ip} %{time_connect}"]);
    let output = curl.args(more).arg(format!("https://{NAME}:{PORT}/")).output().unwrap();
    let told = text(&output.stdout);
    let (address, seconds) = told.split_once(' ').unwrap_or_else(|| panic!("{output:?}"));
    (address.to_owned(), seconds.parse::<f64>().unwrap() * 1e3)
}
