//! Finding and unpacking XML files: plain, `.xz`, `.gz`, and AMD's `.zip` bundle as downloaded.
//!
//! Nothing is written to disk, and nothing in an archive decides how much memory is used: every stream is read
//! through a limit, whatever size its header claims.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::error::{Error, SourceFault};

const MIB: u64 = 1 << 20;

/// Limits on what is read. The defaults leave room for files four times as large as AMD's largest.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of one unpacked file, and of one packed file or archive.
    pub file: u64,
    /// Bytes of all unpacked files together.
    pub total: u64,
    /// Entries of one archive, and files of one folder.
    pub entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { file: 64 * MIB, total: 1024 * MIB, entries: 1000 }
    }
}

/// One XML file, unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file's name without folder and packing suffix, for example `amdgpu_isa_rdna4.xml`.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Source {
    /// Takes the bytes of an XML file, which must be UTF-8.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Result<Self, Error> {
        let name = name.into();
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { name, text }),
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                let hint = match error.as_bytes() {
                    [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "a UTF-16 byte order mark",
                    _ => "an invalid byte sequence",
                };
                Err(Error::Source { file: name, fault: SourceFault::NotUtf8 { hint, offset } })
            }
        }
    }
}

/// Reads every `.xml`, `.xml.xz`, `.xml.gz` and `.zip` of a folder (not of its subfolders), sorted by name.
///
/// `path` may also be one such file. Files of other kinds are passed over.
pub fn read_dir(path: &Path) -> Result<Vec<Source>, Error> {
    read_dir_with(path, Limits::default())
}

/// [`read_dir`] with other limits.
pub fn read_dir_with(path: &Path, limits: Limits) -> Result<Vec<Source>, Error> {
    let files = candidates(path, limits)?;
    let budget = Budget::new(limits);
    let found: Vec<Vec<Found>> = files.par_iter().map(|file| unpack(file, &budget)).collect::<Result<_, _>>()?;

    let mut by_name: BTreeMap<String, Found> = BTreeMap::new();
    for item in found.into_iter().flatten() {
        match by_name.get(&item.source.name) {
            Some(other) if other.source.text != item.source.text => {
                return Err(Error::Source {
                    file: item.origin,
                    fault: SourceFault::Ambiguous { other: other.origin.clone() },
                });
            }
            // The bundle beside its own unpacked files is no reason to complain.
            Some(_) => {}
            None => {
                by_name.insert(item.source.name.clone(), item);
            }
        }
    }
    if by_name.is_empty() {
        return Err(Error::Source { file: path.display().to_string(), fault: SourceFault::Empty });
    }
    Ok(by_name.into_values().map(|found| found.source).collect())
}

struct Found {
    source: Source,
    origin: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Xz,
    Gzip,
    Zip,
}

/// How a file is packed and the name of what is in it; `None` for files that are not XML.
fn packing(name: &str) -> Option<(Packing, &str)> {
    let lower = name.to_ascii_lowercase();
    let stem = |suffix: &str| &name[..name.len() - suffix.len()];
    if lower.ends_with(".xml") {
        Some((Packing::Plain, name))
    } else if lower.ends_with(".xml.xz") {
        Some((Packing::Xz, stem(".xz")))
    } else if lower.ends_with(".xml.gz") {
        Some((Packing::Gzip, stem(".gz")))
    } else if lower.ends_with(".zip") {
        Some((Packing::Zip, name))
    } else {
        None
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |error| Error::Io { path, error }
}

fn candidates(path: &Path, limits: Limits) -> Result<Vec<PathBuf>, Error> {
    if !fs::metadata(path).map_err(io_error(path))?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(io_error(path))? {
        let file = entry.map_err(io_error(path))?.path();
        if file.is_file() && packing(&file_name(&file)).is_some() {
            files.push(file);
        }
        if files.len() > limits.entries {
            return Err(Error::Source {
                file: path.display().to_string(),
                fault: SourceFault::TooMany { limit: limits.entries },
            });
        }
    }
    files.sort();
    Ok(files)
}

/// What may still be unpacked, shared by all threads.
struct Budget {
    limits: Limits,
    left: AtomicU64,
}

impl Budget {
    fn new(limits: Limits) -> Self {
        Self { limits, left: AtomicU64::new(limits.total) }
    }

    /// Reads all of `from`, or fails once a limit is passed.
    fn read(&self, from: impl Read, size_hint: u64, file: &str) -> Result<Vec<u8>, Error> {
        let fail = |fault| Error::Source { file: file.to_owned(), fault };
        let limit = self.limits.file;
        // A header may lie about the size: reserve no more than a usual file takes.
        let expected = size_hint.min(limit).min(16 * MIB);
        let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
        from.take(limit + 1).read_to_end(&mut bytes).map_err(|error| fail(SourceFault::Unpack(error.to_string())))?;
        let size = bytes.len() as u64;
        if size > limit {
            return Err(fail(SourceFault::TooLarge { limit: limit / MIB }));
        }
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(size))
            .map_err(|_| fail(SourceFault::TooLargeTogether { limit: self.limits.total / MIB }))?;
        Ok(bytes)
    }
}

fn unpack(path: &Path, budget: &Budget) -> Result<Vec<Found>, Error> {
    let name = file_name(path);
    let origin = path.display().to_string();
    let Some((packing, inner)) = packing(&name) else {
        return Err(Error::Source { file: origin, fault: SourceFault::Empty });
    };
    let file = fs::File::open(path).map_err(io_error(path))?;
    let size = file.metadata().map_err(io_error(path))?.len();
    if size > budget.limits.file {
        return Err(Error::Source { file: origin, fault: SourceFault::TooLarge { limit: budget.limits.file / MIB } });
    }
    let buffered = io::BufReader::new(file);
    let bytes = match packing {
        Packing::Plain => budget.read(buffered, size + 1, &origin)?,
        // 64 MiB of dictionary is what `xz -9` asks for.
        Packing::Xz => budget.read(lzma_rust2::XzReader::new_mem_limit(buffered, true, 80 * 1024), 0, &origin)?,
        Packing::Gzip => budget.read(flate2::bufread::MultiGzDecoder::new(buffered), 0, &origin)?,
        Packing::Zip => {
            let packed = budget.read(buffered, size + 1, &origin)?;
            return unzip(&packed, &origin, budget);
        }
    };
    Ok(vec![Found { source: Source::new(inner, bytes)?, origin }])
}

/// The `*.xml` entries of an archive. One entry with a hostile name makes the whole archive suspect.
fn unzip(packed: &[u8], origin: &str, budget: &Budget) -> Result<Vec<Found>, Error> {
    let fail = |fault| Error::Source { file: origin.to_owned(), fault };
    let broken = |error: zip::result::ZipError| fail(SourceFault::Unpack(error.to_string()));
    let mut archive = zip::ZipArchive::new(io::Cursor::new(packed)).map_err(broken)?;
    if archive.len() > budget.limits.entries {
        return Err(fail(SourceFault::TooMany { limit: budget.limits.entries }));
    }
    let mut wanted = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(broken)?;
        let name = entry.name().map_err(broken)?.into_owned();
        if !plain_relative(&name) {
            return Err(fail(SourceFault::UnsafeName { name }));
        }
        let entry_fail = |fault| Error::Source { file: format!("{origin}!{name}"), fault };
        if entry.is_symlink() {
            return Err(entry_fail(SourceFault::Symlink));
        }
        if entry.is_dir() || !matches!(packing(&name), Some((Packing::Plain, _))) {
            continue;
        }
        if entry.encrypted() {
            return Err(entry_fail(SourceFault::Encrypted));
        }
        wanted.push((index, name, entry.size()));
    }
    wanted
        .into_par_iter()
        .map_init(
            // The directory is shared; only the reading position is a thread's own.
            || archive.clone(),
            |archive, (index, name, size)| {
                let origin = format!("{origin}!{name}");
                let entry = archive.by_index(index).map_err(|error| Error::Source {
                    file: origin.clone(),
                    fault: SourceFault::Unpack(error.to_string()),
                })?;
                let bytes = budget.read(entry, size, &origin)?;
                let base = name.rsplit('/').next().unwrap_or(&name);
                Ok(Found { source: Source::new(base, bytes)?, origin })
            },
        )
        .collect()
}

/// Whether a name stays where it is unpacked, on any operating system.
fn plain_relative(name: &str) -> bool {
    !name.is_empty()
        && !name.contains(['\\', '\0', ':'])
        && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}
