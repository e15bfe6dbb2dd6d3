//! `cargo xtask fetch`: download AMD's bundle of XML files.
//!
//! The download is curl's or wget's: an HTTP client with TLS would be the largest part of xtask's build, for a command
//! that is run a few times a year.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use codegen::sources::Bundle;
use sha2::{Digest, Sha256};

use crate::regen::{root, sources};

/// A bundle has 2 to 4 MiB.
const MAX_BYTES: u64 = 256 << 20;

/// Arguments of the command.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Download what AMD publishes now, whatever its checksum, instead of the bundle the records were made from.
    #[arg(long)]
    latest: bool,
    /// Where to put it [default: target/isa-xml].
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let bundle = sources()?.bundle;
    let folder = args.to.clone().unwrap_or_else(cache);
    let (url, file) = if args.latest { (&bundle.latest, "latest.zip") } else { (&bundle.url, bundle.file.as_str()) };
    let path = folder.join(file);
    if !args.latest && sha256(&path).is_ok_and(|found| found == bundle.sha256) {
        return done(&path, "is already there");
    }
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let part = path.with_extension("part");
    let result = download(url, &part).and_then(|()| {
        let found = sha256(&part)?;
        if args.latest {
            println!("sha256 {found}");
        } else if found != bundle.sha256 {
            bail!("the download has sha256 {found}, data/sources.toml says {}", bundle.sha256);
        }
        fs::rename(&part, &path).with_context(|| path.display().to_string())
    });
    if let Err(error) = result {
        // Best effort: the download's own error is the one to report.
        let _ = fs::remove_file(&part);
        bail!("{}", advice(&bundle, url, &error));
    }
    done(&path, "downloaded")
}

fn done(path: &Path, how: &str) -> Result<()> {
    println!("{} {how}; compare with the records: cargo xtask import --check --xml {0}", path.display());
    Ok(())
}

/// One line, whatever went wrong.
fn advice(bundle: &Bundle, url: &str, error: &anyhow::Error) -> String {
    format!(
        "cannot fetch {url} ({}): download it in a browser, then run `cargo xtask regen --xml {}`; \
         without any XML, `cargo xtask regen` uses the recorded facts",
        format!("{error:#}").replace('\n', " "),
        bundle.file
    )
}

fn cache() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from).join("isa-xml")
}

fn sha256(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    Ok(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

fn download(url: &str, to: &Path) -> Result<()> {
    let mut curl = Command::new("curl");
    curl.args(["--fail", "--silent", "--show-error", "--location", "--proto", "=https", "--proto-redir", "=https"])
        .args(["--connect-timeout", "20", "--max-time", "600", "--max-filesize", &MAX_BYTES.to_string()])
        .arg("--output")
        .arg(to)
        .args(["--", url]);
    if run_tool("curl", &mut curl)? {
        return Ok(());
    }
    let mut wget = Command::new("wget");
    wget.args(["--no-verbose", "--https-only", "--tries=1", "--timeout=20"])
        .arg("--output-document")
        .arg(to)
        .args(["--", url]);
    if run_tool("wget", &mut wget)? {
        return Ok(());
    }
    bail!("neither curl nor wget is installed")
}

/// Whether the tool exists; an error if it exists and failed.
fn run_tool(name: &str, command: &mut Command) -> Result<bool> {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error).context(name.to_owned()),
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim().lines().last().unwrap_or("no reason given").trim();
        bail!("{name}: {}", said.trim_start_matches("curl: "));
    }
    Ok(true)
}
