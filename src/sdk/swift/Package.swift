// swift-tools-version:5.9

import PackageDescription

let client = "KeyledgerClient"

// Apple's systems have CryptoKit. Elsewhere libsodium signs and verifies.
#if os(Linux)
let libraries: [Target] = [
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])])
]
let needed: [Target.Dependency] = ["CSodium"]
#else
let libraries: [Target] = []
let needed: [Target.Dependency] = []
#endif

let package = Package(
    name: "keyledger-client",
    platforms: [.iOS(.v15), .macOS(.v12)],
    products: [.library(name: client, targets: [client])],
    targets: libraries + [
        .target(name: client, dependencies: needed),
        .executableTarget(name: "KeyledgerExample", dependencies: [.byName(name: client)]),
        // What a test of the repository runs beside the client in JavaScript.
        .executableTarget(name: "KeyledgerStory", dependencies: [.byName(name: client)]),
        .testTarget(name: "KeyledgerClientTests", dependencies: [.byName(name: client)]),
    ]
)
