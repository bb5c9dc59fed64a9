using System;
using System.Diagnostics;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Keyledger.Client;

/// <summary>
/// Keeps it in a file that only its user can read. A write is complete or does not happen: a crash leaves the former text.
/// </summary>
/// <example><code>
/// var folder = Environment.GetFolderPath(Environment.SpecialFolder.LocalApplicationData, Environment.SpecialFolderOption.Create);
/// var storage = new FileStorage(Path.Combine(folder, "AcmeEditor", "license.json"));
/// </code></example>
public sealed class FileStorage : IStorage
{
    private const uint OnlyUser = 0x180; // 0600
    private const uint OnlyUserFolder = 0x1c0; // 0700

    private readonly string path;
    private int writes;

    /// <summary>Keeps it at this path.</summary>
    /// <param name="path">For example below <see cref="Environment.SpecialFolder.LocalApplicationData"/>, whose files are the user's on Windows.</param>
    /// <exception cref="ArgumentException">For a text that is no path.</exception>
    public FileStorage(string path) => this.path = Path.GetFullPath(path);

    /// <inheritdoc/>
    /// <exception cref="IOException">When it cannot be read; an <see cref="UnauthorizedAccessException"/> for one of another user.</exception>
    public string? Read()
    {
        try
        {
            return File.ReadAllText(path, Encoding.UTF8);
        }
        catch (Exception error) when (error is FileNotFoundException or DirectoryNotFoundException)
        {
            return null;
        }
    }

    /// <inheritdoc/>
    /// <exception cref="IOException">When it cannot be written; an <see cref="UnauthorizedAccessException"/> for one of another user.</exception>
    public void Write(string text)
    {
        CreateFolder(Path.GetDirectoryName(path)!);
        using var process = Process.GetCurrentProcess();
        var draft = $"{path}.{process.Id}-{Interlocked.Increment(ref writes)}.tmp";
        CreateForUser(draft);
        try
        {
            using (var file = new FileStream(draft, FileMode.Truncate, FileAccess.Write, FileShare.None))
            {
                var bytes = new UTF8Encoding(false).GetBytes(text);
                file.Write(bytes, 0, bytes.Length);
                file.Flush(true);
            }
            Replace(draft);
        }
        catch
        {
            File.Delete(draft);
            throw;
        }
    }

    private void Replace(string draft)
    {
#if NETSTANDARD2_0
        if (!File.Exists(path))
        {
            try
            {
                File.Move(draft, path);
                return;
            }
            catch (IOException) when (File.Exists(path))
            {
                // Another process was first.
            }
        }
        File.Replace(draft, path, null);
#else
        File.Move(draft, path, true);
#endif
    }

    private static void CreateFolder(string folder)
    {
        if (Directory.Exists(folder)) return;
        Directory.CreateDirectory(folder);
        if (IsUnix) _ = ChangeMode(folder, OnlyUserFolder);
    }

    /// <summary>The file is the user's from its first moment: netstandard2.0 has no way to say so but the system's own.</summary>
    private static void CreateForUser(string draft)
    {
        if (!IsUnix)
        {
            File.Create(draft).Dispose();
            return;
        }
        var file = CreateFile(draft, OnlyUser);
        if (file < 0) throw new IOException($"{draft} cannot be created (error {Marshal.GetLastWin32Error()})");
        _ = CloseFile(file);
    }

    private static bool IsUnix => !RuntimeInformation.IsOSPlatform(OSPlatform.Windows);

    [DllImport("libc", EntryPoint = "creat", SetLastError = true, CharSet = CharSet.Ansi, BestFitMapping = false, ThrowOnUnmappableChar = true)]
    private static extern int CreateFile(string path, uint mode);

    [DllImport("libc", EntryPoint = "close")]
    private static extern int CloseFile(int file);

    [DllImport("libc", EntryPoint = "chmod", CharSet = CharSet.Ansi, BestFitMapping = false, ThrowOnUnmappableChar = true)]
    private static extern int ChangeMode(string path, uint mode);
}
