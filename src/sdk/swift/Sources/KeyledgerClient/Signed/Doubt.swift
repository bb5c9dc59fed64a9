/// Why something that was signed must not be believed, in the words of the vectors.
enum Doubt: String, Error, Sendable {
    case malformed
    case unknownKey = "unknown_key"
    case badSignature = "bad_signature"
    case anotherLicense = "another_license"
    case anotherInstance = "another_instance"
    case anotherDevice = "another_device"
    case unsigned
    case outdated
    case notAsked = "not_asked"
    case notYet = "not_yet"
    case over

    /// What a step has led to, or the doubt that it has thrown.
    static func judge<Value>(_ step: () throws -> Value) -> Result<Value, Doubt> {
        do {
            return .success(try step())
        } catch let doubt as Doubt {
            return .failure(doubt)
        } catch {
            return .failure(.malformed)
        }
    }
}

/// The public keys that are known, base64, by their ids.
typealias Keys = [String: String]
