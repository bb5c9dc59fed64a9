// An app that asks for a license key when it has none, and says what it may do.
using Keyledger.Client;

if (args.Length == 0)
{
    Console.Error.WriteLine("usage: App <address of the license server> [license key]");
    return 2;
}
var folder = Environment.GetFolderPath(Environment.SpecialFolder.LocalApplicationData, Environment.SpecialFolderOption.Create);
var storage = new FileStorage(Path.Combine(folder, "AcmeEditor", "license.json"));
using var client = new LicenseClient(new ClientOptions(new Place("acme", "acme-editor"), storage)
{
    BaseUrl = new Uri(args[0]),
    SdkKey = "the SDK key of your tenant",
});
using var told = client.SubscribeToNotices(notice => Console.WriteLine($"Your license: {notice.Kind}"));

await client.Load();
var outcome = args.Length > 1 ? await client.Activate(args[1]) : await client.Validate();
if (outcome.Problem is { } problem) Console.Error.WriteLine($"{problem.Name}: {problem.Message}");
Console.WriteLine(outcome.State);
Console.WriteLine(client.Has("export") ? "Export is available." : "Export needs a license.");
return 0;
