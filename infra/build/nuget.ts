// cspell:ignore OPTOUT NOLOGO
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const project = join(import.meta.dirname, '../../src/sdk/csharp/src/Keyledger.Client/Keyledger.Client.csproj')

/** What the .NET SDK is run with. @param home where it keeps what it notes of its user */
export const dotnetEnvironment = (home: string): NodeJS.ProcessEnv => ({
  ...process.env,
  DOTNET_CLI_TELEMETRY_OPTOUT: '1',
  DOTNET_NOLOGO: '1',
  DOTNET_CLI_HOME: home,
})

/** Where a project is built: outside the checkout, and without a build server that would stay. */
export const builtIn = (directory: string): string[] => [
  ...['--artifacts-path', directory, '--configuration', 'Release', '--nologo'],
  ...['--disable-build-servers', '-p:UseSharedCompilation=false'],
]

/** Whether there is a .NET SDK. */
export function hasDotnet(): boolean {
  try {
    execFileSync('dotnet', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Packs the C# client as nuget.org takes it. @returns the path of the archive @throws Error without the .NET SDK */
export function packNuget(to: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-package-'))
  try {
    // Otherwise the archive would name paths of this machine.
    const options = [...builtIn(directory), '-p:ContinuousIntegrationBuild=true', '-p:DebugType=none']
    execFileSync('dotnet', ['pack', project, ...options], {
      env: dotnetEnvironment(directory),
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const packed = join(directory, 'package/release')
    const [archive = ''] = readdirSync(packed).filter((name) => name.endsWith('.nupkg'))
    copyFileSync(join(packed, archive), join(to, archive))
    return join(to, archive)
  } finally {
    rmSync(directory, { recursive: true })
  }
}
