/// A text that is compared by its bytes. Texts of Swift are equal when they look alike, and what is signed is bytes.
struct ExactText: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (one: ExactText, other: ExactText) -> Bool {
        one.text.isExactly(other.text)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 {
            hasher.combine(byte)
        }
    }
}

extension String {
    /// Whether both have the same bytes.
    func isExactly(_ other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }

    /// Whether the bytes of the other are the first ones.
    func begins(with other: String) -> Bool {
        utf8.starts(with: other.utf8)
    }
}
