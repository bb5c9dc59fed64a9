/// A list of files that must not be used any more, with its token, which is verified again after it was stored.
struct Withdrawn: Equatable, Sendable {
    let token: String
    let files: [String]
    let serial: Double
    let issuedAt: Int64

    /// Reads a list; nil for what is no list, or was not signed for this product.
    static func read(_ token: String, _ place: Place, _ keys: Keys) -> Withdrawn? {
        guard let parsed = Token(token), let claims = try? parsed.readStatement(place.assertion("withdrawn1"), keys) else {
            return nil
        }
        guard let files = claims.list("files"), let serial = claims["serial"]?.asDouble, let written = claims.text("iat"),
            let issuedAt = Times.seconds(of: written)
        else { return nil }
        let ids = files.compactMap { file in file.asText }
        return Withdrawn(token: token, files: ids, serial: serial, issuedAt: issuedAt)
    }
}
