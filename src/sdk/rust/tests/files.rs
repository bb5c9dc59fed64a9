//! The storage in a file.

use std::fs;
use std::path::PathBuf;
use std::thread;

use keyledger_client::{FileStorage, Storage};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("keyledger-{name}-{}", std::process::id()));
    assert!(!folder.exists());
    folder
}

#[test]
fn a_write_replaces_the_file_as_a_whole_and_leaves_no_draft() {
    let folder = folder("whole");
    let storage = FileStorage::new(folder.join("deep/license.json"));
    assert_eq!(storage.read().unwrap(), None);
    let texts: Vec<String> = (0..4).map(|one| one.to_string().repeat(50_000)).collect();
    let writers: Vec<_> = texts
        .iter()
        .cloned()
        .map(|text| {
            let storage = storage.clone();
            thread::spawn(move || (0..20).for_each(|_| storage.write(&text).unwrap()))
        })
        .collect();
    while !writers.iter().all(thread::JoinHandle::is_finished) {
        let read = storage.read().unwrap();
        assert!(read.map_or(true, |read| texts.contains(&read)), "a part of a text was read");
    }
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    assert_eq!(fs::read_dir(folder.join("deep")).unwrap().count(), 1);
    fs::remove_dir_all(folder).unwrap();
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("mode");
    let path = folder.join("license.json");
    FileStorage::new(&path).write("{}").unwrap();
    let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(&folder)), (0o600, 0o700));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_cannot_be_read_or_written_is_an_error() {
    let folder = folder("error");
    fs::create_dir_all(folder.join("license.json")).unwrap();
    let storage = FileStorage::new(folder.join("license.json"));
    assert!(storage.read().is_err() && storage.write("{}").is_err());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    fs::remove_dir_all(folder).unwrap();
}
