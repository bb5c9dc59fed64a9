using System;
using System.Collections.Generic;
using System.IO;
using System.Net.Http;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Keyledger.Client;

/// <summary>A request to a license server.</summary>
public sealed class TransportRequest
{
    internal TransportRequest(Uri address, string? sdkKey, string? body)
    {
        (Address, Body) = (address, body);
        var headers = new Dictionary<string, string>();
        if (sdkKey is not null) headers["x-service-sdk-key"] = sdkKey;
        if (body is not null) headers["content-type"] = "application/json";
        Headers = headers;
    }

    /// <summary>Where it goes.</summary>
    public Uri Address { get; }

    /// <summary>JSON for a POST; null for a GET.</summary>
    public string? Body { get; }

    /// <summary>All headers to send.</summary>
    public IReadOnlyDictionary<string, string> Headers { get; }
}

/// <summary>What came back.</summary>
/// <param name="Status">The status of HTTP.</param>
/// <param name="Body">The whole body as text.</param>
/// <param name="RetryAfter">The header Retry-After, if there was one.</param>
public sealed record TransportAnswer(int Status, string Body, string? RetryAfter);

/// <summary>Sends requests. A platform without <see cref="HttpClient"/>, such as Unity in a browser, hands in its own.</summary>
public interface ITransport
{
    /// <summary>Sends a request once. Redirects are followed.</summary>
    /// <param name="request">What to send.</param>
    /// <param name="cancellation">Ends it when it takes too long.</param>
    /// <returns>The answer of any status.</returns>
    /// <exception cref="Exception">Of any kind, when none came.</exception>
    Task<TransportAnswer> Send(TransportRequest request, CancellationToken cancellation);
}

/// <summary>
/// Sends with <see cref="HttpClient"/>: through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name, else through that of the settings of
/// Windows or macOS, and with the certificates that the system trusts.
/// </summary>
public sealed class HttpTransport : ITransport, IDisposable
{
    /// <summary>Answers of the server are smaller; what is longer comes from something else, and is not read to its end.</summary>
    private const int MostBytes = 262_144;

    private readonly HttpClient http;

    /// <summary>Sends with a client of its own.</summary>
    public HttpTransport()
        : this(new HttpClient(new HttpClientHandler { UseCookies = false }))
    {
    }

    /// <summary>Sends with the client of the app, for example with a proxy of its own.</summary>
    /// <param name="http">It is disposed with this transport.</param>
    public HttpTransport(HttpClient http) => this.http = http;

    /// <inheritdoc/>
    public async Task<TransportAnswer> Send(TransportRequest request, CancellationToken cancellation)
    {
        using var message = new HttpRequestMessage(request.Body is null ? HttpMethod.Get : HttpMethod.Post, request.Address);
        message.Content = ContentOf(request.Body);
        foreach (var header in request.Headers)
            if (!message.Headers.TryAddWithoutValidation(header.Key, header.Value))
                message.Content?.Headers.TryAddWithoutValidation(header.Key, header.Value);
        using var answer = await http
            .SendAsync(message, HttpCompletionOption.ResponseHeadersRead, cancellation).ConfigureAwait(false);
        var retryAfter = answer.Headers.TryGetValues("retry-after", out var values) ? string.Join(", ", values) : null;
        var body = await BodyOf(answer, cancellation).ConfigureAwait(false);
        return new TransportAnswer((int)answer.StatusCode, body, retryAfter);
    }

    /// <summary>
    /// A request without content, even an empty one, is sent up to three times more by the handler of .NET when its connection breaks. The
    /// handlers of the .NET Framework and of Mono refuse content in a GET.
    /// </summary>
    private static ByteArrayContent? ContentOf(string? body)
    {
        if (body is not null) return new ByteArrayContent(Encoding.UTF8.GetBytes(body));
#if NETSTANDARD2_0
        return null;
#else
        return new ByteArrayContent(Array.Empty<byte>());
#endif
    }

    private static async Task<string> BodyOf(HttpResponseMessage answer, CancellationToken cancellation)
    {
        using var stream = await answer.Content.ReadAsStreamAsync().ConfigureAwait(false);
        using var body = new MemoryStream();
        var part = new byte[16_384];
        while (body.Length < MostBytes)
        {
            var count = await stream.ReadAsync(part, 0, part.Length, cancellation).ConfigureAwait(false);
            if (count == 0) break;
            body.Write(part, 0, count);
        }
        using var reader = new StreamReader(new MemoryStream(body.ToArray()), Encoding.UTF8);
        return reader.ReadToEnd();
    }

    /// <summary>Ends its connections.</summary>
    public void Dispose() => http.Dispose();
}
