using System;
using System.Diagnostics;
using System.IO;
using System.Text;
using System.Threading.Tasks;

namespace Keyledger.Client.KeyStores;

/// <summary>Runs secret-tool, of the package libsecret-tools. A secret goes over its standard input, since all users can read arguments.</summary>
internal static class SecretTool
{
    /// <summary>As long as a user may take to unlock the key store.</summary>
    private const int MostMs = 60_000;

    /// <summary>How it ended, and what it printed.</summary>
    public sealed record Ended(int Status, string Printed, string Errors);

    /// <summary>Waits for it to end.</summary>
    public static Ended Run(string arguments, string? secret)
    {
        using var process = new Process
        {
            StartInfo = new ProcessStartInfo("secret-tool", arguments)
            {
                UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true,
            },
        };
        try
        {
            process.Start();
        }
        catch (Exception error)
        {
            throw new StorageException(
                "the key store is reached with the program secret-tool: install it (libsecret-tools), or use FileStorage", error);
        }
        var printed = Task.Run(() => TextIn(process.StandardOutput.BaseStream));
        var errors = Task.Run(() => TextIn(process.StandardError.BaseStream));
        Give(process.StandardInput.BaseStream, secret);
        if (!process.WaitForExit(MostMs) || !Task.WaitAll(new Task[] { printed, errors }, MostMs))
        {
            if (!process.HasExited) process.Kill();
            throw new StorageException("the key store did not answer within a minute: unlock the keyring of the user, and try again");
        }
        return new Ended(process.ExitCode, printed.Result, errors.Result.Trim());
    }

    private static void Give(Stream input, string? secret)
    {
        try
        {
            var bytes = Encoding.UTF8.GetBytes(secret ?? "");
            input.Write(bytes, 0, bytes.Length);
            input.Dispose();
        }
        catch (IOException)
        {
            // It has ended before it read all, and says why.
        }
    }

    private static string TextIn(Stream stream)
    {
        using var reader = new StreamReader(stream, new UTF8Encoding(false));
        return reader.ReadToEnd();
    }
}
