#if canImport(Security)
import Foundation
import Security

/// Keeps it in the keychain of the user, on this device alone. It stays there when the app is deleted.
///
/// ```swift
/// let storage = KeychainStorage(service: "com.example.acme-editor")
/// ```
public struct KeychainStorage: Storage {
    /// The keychain has refused.
    public struct Failed: Error, Equatable, Sendable, CustomStringConvertible {
        /// The status of the keychain.
        public let status: Int32

        /// In English, for logs.
        public var description: String { "the keychain answered \(status)" }
    }

    private let service: String
    private let account: String

    /// Keeps it as a password of this service, such as the id of the app's bundle, and of this account.
    public init(service: String, account: String = "keyledger") {
        self.service = service
        self.account = account
    }

    /// Reads it; nil when there is none.
    public func read() throws -> String? {
        var query = item
        query[kSecReturnData] = true
        query[kSecMatchLimit] = kSecMatchLimitOne
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let data = found as? Data else { throw Failed(status: status) }
        return String(decoding: data, as: UTF8.self)
    }

    /// Replaces it.
    public func write(_ text: String) throws {
        let data = Data(text.utf8)
        let changed: [CFString: Any] = [kSecValueData: data]
        var status = SecItemUpdate(item as CFDictionary, changed as CFDictionary)
        if status == errSecItemNotFound {
            var added = item
            added[kSecValueData] = data
            added[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            status = SecItemAdd(added as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw Failed(status: status) }
    }

    private var item: [CFString: Any] {
        [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account]
    }
}
#endif
