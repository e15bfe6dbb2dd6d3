//! Folders and archives: what is found in them, and what they cannot do.

mod common;

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use common::{V1_0_0, V1_2_0};
use isa_xml::source::{Limits, read_dir, read_dir_with};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(6);
    let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// The one-line fault of a folder with this file.
fn fault(name: &str, file: &str, bytes: &[u8], limits: Limits) -> String {
    let folder = folder(name);
    fs::write(folder.join(file), bytes).unwrap();
    let message = read_dir_with(&folder, limits).unwrap_err().to_string();
    assert!(message.contains(file), "names the file: {message}");
    assert!(!message.contains('\n'), "one line: {message}");
    message
}

fn small() -> Limits {
    Limits { file: 1 << 20, total: 3 << 20, entries: 10 }
}

#[test]
fn every_packing_is_read() {
    let folder = folder("packings");
    fs::write(folder.join("a.xml"), V1_0_0).unwrap();
    fs::write(folder.join("b.xml.gz"), gz(V1_0_0.as_bytes())).unwrap();
    fs::write(folder.join("c.XML.xz"), xz(V1_2_0.as_bytes())).unwrap();
    let entries: [(&str, &[u8]); 3] =
        [("e.xml", V1_2_0.as_bytes()), ("docs/readme.txt", b"no XML"), ("sub/folder/d.xml", V1_0_0.as_bytes())];
    fs::write(folder.join("bundle.zip"), zip(&entries)).unwrap();
    fs::write(folder.join("README.md"), "passed over").unwrap();
    fs::create_dir(folder.join("dir.xml")).unwrap();
    let sources = read_dir(&folder).unwrap();
    let names: Vec<&str> = sources.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["a.xml", "b.xml", "c.XML", "d.xml", "e.xml"]);
    assert!(sources[..2].iter().all(|s| s.text == V1_0_0));
    assert_eq!(sources[2].text, V1_2_0);
    // One file will do.
    let one = read_dir(&folder.join("bundle.zip")).unwrap();
    assert_eq!(one.len(), 2);
}

#[test]
fn the_same_file_twice_is_fine_only_if_it_is_the_same() {
    let folder = folder("twice");
    fs::write(folder.join("a.xml"), V1_0_0).unwrap();
    fs::write(folder.join("bundle.zip"), zip(&[("a.xml", V1_0_0.as_bytes())])).unwrap();
    assert_eq!(read_dir(&folder).unwrap().len(), 1);
    fs::write(folder.join("a.xml"), V1_2_0).unwrap();
    let message = read_dir(&folder).unwrap_err().to_string();
    assert!(message.contains("bundle.zip!a.xml") && message.contains("keep one of them"), "{message}");
}

#[test]
fn bombs_are_refused() {
    let zeros = vec![b' '; (1 << 20) + 1];
    assert!(fault("bomb1", "a.xml.gz", &gz(&zeros), small()).contains("larger than 1 MiB"));
    assert!(fault("bomb2", "a.xml.xz", &xz(&zeros), small()).contains("larger than 1 MiB"));
    assert!(fault("bomb3", "a.zip", &zip(&[("a.xml", &zeros)]), small()).contains("a.zip!a.xml: larger than 1 MiB"));
    assert!(fault("bomb4", "a.xml", &zeros, small()).contains("larger than 1 MiB"));
    let most = &zeros[..1 << 20];
    let many: [(&str, &[u8]); 4] = [("a.xml", most), ("b.xml", most), ("c.xml", most), ("d.xml", most)];
    let message = fault("bomb5", "a.zip", &zip(&many), small());
    assert!(message.contains("all files together are larger than 3 MiB"), "{message}");
    let names: Vec<String> = (0..11).map(|i| format!("{i}.txt")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|n| (n.as_str(), &b""[..])).collect();
    assert!(fault("bomb6", "a.zip", &zip(&many), small()).contains("more than 10 files"));
}

#[test]
fn a_header_that_lies_about_the_size_reserves_nothing() {
    let mut bytes = zip(&[("a.xml", V1_0_0.as_bytes())]);
    let real = u32::try_from(V1_0_0.len()).unwrap().to_le_bytes();
    let places: Vec<usize> = (0..bytes.len() - 4).filter(|&i| bytes[i..i + 4] == real).collect();
    assert_eq!(places.len(), 2, "in the local and in the central header");
    for at in places {
        bytes[at..at + 4].copy_from_slice(&0xffff_fff0_u32.to_le_bytes());
    }
    let folder = folder("liar");
    fs::write(folder.join("a.zip"), bytes).unwrap();
    // Whether the file is then read or refused is the unpacker's choice; it must not take 4 GiB.
    if let Ok(sources) = read_dir_with(&folder, small()) {
        assert_eq!(sources[0].text, V1_0_0);
    }
}

#[test]
fn names_that_leave_the_folder_are_refused() {
    for (i, name) in ["../a.xml", "/a.xml", "x/../../a.xml", "C:\\a.xml", "..\\a.xml", "./../a.txt"].iter().enumerate()
    {
        let message = fault(&format!("path{i}"), "a.zip", &zip(&[(name, b"<Spec/>")]), small());
        assert!(message.contains("is not a plain relative path"), "{name}: {message}");
    }
}

#[test]
fn symbolic_links_are_refused() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("a.xml", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    assert!(fault("symlink", "a.zip", &bytes, small()).contains("a.zip!a.xml: the entry is a symbolic link"));
}

#[test]
fn encrypted_entries_are_named() {
    let mut bytes = zip(&[("a.xml", V1_0_0.as_bytes())]);
    // Bit 0 of the flags, 6 bytes into the local header and 8 into the central one.
    let central = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    bytes[6] |= 1;
    bytes[central + 8] |= 1;
    assert!(fault("encrypted", "a.zip", &bytes, small()).contains("a.zip!a.xml: the entry is encrypted"));
}

#[test]
fn broken_archives() {
    assert!(fault("broken1", "a.zip", b"PK\x03\x04 nothing", small()).contains("cannot unpack"));
    assert!(fault("broken2", "a.xml.gz", b"not gzip", small()).contains("cannot unpack"));
    assert!(fault("broken3", "a.xml.xz", b"not xz", small()).contains("cannot unpack"));
    assert!(fault("broken4", "a.zip", b"", small()).contains("cannot unpack"));
    let packed = xz(V1_0_0.as_bytes());
    assert!(fault("broken5", "a.xml.xz", &packed[..packed.len() / 2], small()).contains("cannot unpack"));
    let packed = gz(V1_0_0.as_bytes());
    assert!(fault("broken6", "a.xml.gz", &packed[..packed.len() / 2], small()).contains("cannot unpack"));
    let mut flipped = zip(&[("a.xml", V1_0_0.as_bytes())]);
    flipped[60] ^= 0x55;
    assert!(fault("broken7", "a.zip", &flipped, small()).contains("cannot unpack"));
}

#[test]
fn every_cut_and_every_flipped_byte_of_an_archive_ends() {
    let folder = folder("flips");
    let file = folder.join("a.zip");
    let whole = zip(&[("a.xml", b"<Spec/>"), ("b/c.xml", b"<Spec/>")]);
    for at in 0..whole.len() {
        fs::write(&file, &whole[..at]).unwrap();
        assert!(read_dir_with(&folder, small()).is_err(), "cut at {at}");
        let mut flipped = whole.clone();
        flipped[at] ^= 0xff;
        fs::write(&file, flipped).unwrap();
        // Some bytes are times and attributes, which nobody reads.
        let _ = read_dir_with(&folder, small());
    }
}

#[test]
fn nothing_to_read() {
    let empty = folder("empty");
    let message = read_dir(&empty).unwrap_err().to_string();
    assert!(message.contains("holds no .xml, .xml.xz, .xml.gz or .zip file"), "{message}");
    let absent = empty.join("absent");
    let message = read_dir(&absent).unwrap_err().to_string();
    assert!(message.starts_with(&absent.display().to_string()), "{message}");
    fs::write(empty.join("a.txt"), "x").unwrap();
    assert!(read_dir(&empty.join("a.txt")).is_err());
    let texts = folder("nozip");
    fs::write(texts.join("a.zip"), zip(&[("a.txt", b"x")])).unwrap();
    assert!(read_dir(&texts).is_err());
}
