import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

type Source = {
  folder: string
  manifest: string
  /** The file that says which version it is, if it is not the manifest, and where in it. */
  versioned?: string
  version: RegExp
  parts: readonly string[]
  name: (version: string) => string
  ending: string
}

/** Packs parts of a folder and the license, below a folder with the name of the archive. @returns its path */
function pack(
  { folder, manifest, versioned = manifest, version, parts, name, ending }: Source,
  to: string,
): string {
  const source = join(root, folder)
  const [, is = ''] = version.exec(readFileSync(join(source, versioned), 'utf8')) ?? []
  const archive = join(to, `${name(is)}${ending}`)
  const temporary = mkdtempSync(join(tmpdir(), 'keyledger-package-'))
  try {
    for (const part of [manifest, 'README.md', ...parts])
      cpSync(join(source, part), join(temporary, name(is), part), { recursive: true })
    cpSync(join(root, 'LICENSE'), join(temporary, name(is), 'LICENSE'))
    execFileSync('tar', ['-czf', archive, '-C', temporary, name(is)])
  } finally {
    rmSync(temporary, { recursive: true })
  }
  return archive
}

/** Packs the crate, in the shape of `cargo package`, which would ask a registry for the dependencies. @returns the path of the archive */
export const packCrate = (to: string): string =>
  pack(
    {
      folder: 'src/sdk/rust',
      manifest: 'Cargo.toml',
      version: /^version = "(.+)"$/m,
      parts: ['src', 'examples', 'tests'],
      name: (version) => `keyledger-client-${version}`,
      ending: '.crate',
    },
    to,
  )

/** Packs the source of the Swift package, which Swift builds. @returns the path of the archive */
export const packSwift = (to: string): string =>
  pack(
    {
      folder: 'src/sdk/swift',
      manifest: 'Package.swift',
      versioned: 'Sources/KeyledgerClient/LicenseClient.swift',
      version: /static let version = "(.+)"$/m,
      parts: ['Sources', 'Tests'],
      name: (version) => `keyledger-client-swift-${version}`,
      ending: '.tar.gz',
    },
    to,
  )

/** Packs the source of the C++ client, from which CMake builds and installs it. @returns the path of the archive */
export const packCpp = (to: string): string =>
  pack(
    {
      folder: 'src/sdk/cpp',
      manifest: 'CMakeLists.txt',
      version: /^project\(keyledger-client VERSION (\S+)/m,
      parts: ['cmake', 'examples', 'include', 'src', 'tests'],
      name: (version) => `keyledger-client-cpp-${version}`,
      ending: '.tar.gz',
    },
    to,
  )
