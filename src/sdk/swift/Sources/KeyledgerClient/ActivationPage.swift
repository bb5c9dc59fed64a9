import Foundation

/// A page where a person chooses a license for this app.
public struct ActivationPage: Equatable, Sendable {
    /// To open in their browser.
    public let url: URL
    /// To show in the app, so that they can compare it with the page.
    public let code: String
}
