use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::locks::lock;
use crate::text::bytes::random_hex;

/// Where an app keeps what it has to remember: one text. A client uses it from one thread at a time.
pub trait Storage: Send + Sync {
    /// Reads it; none when nothing was written yet.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn read(&self) -> io::Result<Option<String>>;

    /// Replaces it. Afterwards it is either the former text or this one, whatever happens.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    fn write(&self, text: &str) -> io::Result<()>;
}

/// Remembers until the program ends.
#[derive(Debug, Default)]
pub struct MemoryStorage(Mutex<Option<String>>);

impl MemoryStorage {
    /// With nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Storage for MemoryStorage {
    fn read(&self) -> io::Result<Option<String>> {
        Ok(lock(&self.0).clone())
    }

    fn write(&self, text: &str) -> io::Result<()> {
        *lock(&self.0) = Some(text.to_owned());
        Ok(())
    }
}

/// Keeps it in a file that only its user can read. A write is complete or does not happen: a crash leaves the former text.
///
/// ```
/// use keyledger_client::{FileStorage, Storage};
///
/// let path = std::env::temp_dir().join(format!("acme-editor-{}", std::process::id())).join("license.json");
/// let storage = FileStorage::new(&path);
/// assert_eq!(storage.read()?, None);
/// storage.write("{}")?;
/// assert_eq!(storage.read()?.as_deref(), Some("{}"));
/// # std::fs::remove_dir_all(path.parent().unwrap())?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FileStorage {
    path: PathBuf,
}

impl FileStorage {
    /// Keeps it at this path, such as `~/.config/acme-editor/license.json`, or below `%LOCALAPPDATA%` on Windows, whose files are
    /// the user's. Folders that are missing are created.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn folder(&self) -> &Path {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
    }
}

impl Storage for FileStorage {
    fn read(&self) -> io::Result<Option<String>> {
        match fs::read(&self.path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&self, text: &str) -> io::Result<()> {
        create_folder(self.folder())?;
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{}.tmp", random_hex(8)));
        let draft = PathBuf::from(name);
        let written = write_new(&draft, text).and_then(|()| fs::rename(&draft, &self.path));
        if written.is_err() {
            // Nothing is lost with it, and the error that counts is the first one.
            let _ = fs::remove_file(&draft);
        }
        written
    }
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
