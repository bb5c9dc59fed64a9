import KeyledgerClient
import SwiftUI

/// What an app shows of its license: one sentence for the state, a field for the key, and a button for each thing that the state allows.
///
/// ```swift
/// Settings { LicensePrompt(client: client) }
/// ```
struct LicensePrompt: View {
    let client: LicenseClient

    @Environment(\.openURL) private var openURL
    @SwiftUI.State private var license: LicenseState?
    @SwiftUI.State private var typed = ""
    @SwiftUI.State private var message: String?
    @SwiftUI.State private var isBusy = false

    var body: some View {
        Form {
            if let license {
                Text(sentence(license.status))
                if license.grant == nil {
                    TextField("License key", text: $typed)
                    Button("Activate") { call { try await client.activate(typed) } }
                        .disabled(typed.isEmpty)
                    Button("Choose a license in the browser") { chooseInBrowser() }
                } else {
                    Button("Give the license back") { call { try await client.deactivate() } }
                }
                if offersTrial(license.status) {
                    Button("Start the trial") { call { try await client.startTrial() } }
                }
                if case .expired(of: .license, at: _, freeTier: _) = license.status {
                    Button("I have renewed it") { lookForPurchase() }
                }
            } else {
                ProgressView()
            }
            if let message {
                Text(message).foregroundColor(.secondary)
            }
        }
        .disabled(isBusy)
        .task { for await state in client.states { license = state } }
        .task { await client.run() }
    }

    /// Does one thing at a time, and shows what kept it from that.
    private func call(_ work: @escaping () async throws -> LicenseState) {
        isBusy = true
        message = nil
        Task { @MainActor in
            do {
                license = try await work()
            } catch let problem as Problem {
                message = problem.message
            } catch {
                message = error.localizedDescription
            }
            isBusy = false
        }
    }

    private func chooseInBrowser() {
        call {
            try await client.activateInBrowser { @MainActor page in
                message = "The page in your browser shows this code: \(page.code)"
                openURL(page.url)
            }
        }
    }

    private func lookForPurchase() {
        isBusy = true
        Task { @MainActor in
            let isKnown = await client.refreshAfterPurchase()
            message = isKnown ? nil : "The purchase is not known yet. Try again in a minute."
            isBusy = false
        }
    }
}

/// What each state says to the user.
private func sentence(_ status: LicenseState.Status) -> String {
    switch status {
    case .starting: return "The license is being read."
    case .unlicensed(let trialDays):
        return trialDays.map { "Enter your license key, or try the app for \($0) days." } ?? "Enter your license key."
    case .licensed(let grant):
        return grant.licenseExpiresAt.map { "This app is licensed until \(day($0))." } ?? "This app is licensed."
    case .fallback: return "The license has ended. You keep what you have bought for good."
    case .offline(_, let grant): return "The license server cannot be reached. The app goes on until \(day(grant.until))."
    case .trial(let until): return "The trial ends on \(day(until))."
    case .free: return "This is the free version."
    case .expired(of: .license, at: let at, freeTier: _): return "The license ended on \(day(at))."
    case .expired(of: .trial, at: let at, freeTier: _): return "The trial ended on \(day(at))."
    case .expired(of: .lease, at: _, freeTier: _): return "Connect to the internet to go on."
    case .expired(of: .file, at: _, freeTier: _): return "The license file has ended. Ask for the next one."
    case .revoked(reason: .suspended, at: _, freeTier: _): return "The license is suspended."
    case .revoked: return "The license can no longer be used on this device."
    case .notCovered(let updatesUntil, _, _):
        return "The license covers versions until \(day(updatesUntil)). Install an older one, or extend it."
    case .anotherDevice: return "The license is in use on another machine. Activate it here again."
    }
}

private func offersTrial(_ status: LicenseState.Status) -> Bool {
    switch status {
    case .unlicensed(let days), .free(let days): return days != nil
    default: return false
    }
}

private func day(_ unixSeconds: Int64) -> String {
    Date(timeIntervalSince1970: TimeInterval(unixSeconds)).formatted(date: .long, time: .omitted)
}
