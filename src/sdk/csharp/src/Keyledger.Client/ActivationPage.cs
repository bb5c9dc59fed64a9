namespace Keyledger.Client;

/// <summary>A page where a person chooses a license for this app.</summary>
/// <param name="Url">To open in their browser; it begins with http:// or https://.</param>
/// <param name="Code">To show in the app, so that they can compare it with the page.</param>
public sealed record ActivationPage(string Url, string Code);
