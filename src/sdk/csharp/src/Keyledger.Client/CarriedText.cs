using System;

namespace Keyledger.Client;

/// <summary>A text to carry to the vendor.</summary>
/// <param name="Text">To paste or to keep as a file.</param>
/// <param name="Token">The same without lines, for a QR code.</param>
public sealed record CarriedText(string Text, string Token);
