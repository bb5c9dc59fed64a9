import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { builtIn, dotnetEnvironment } from '../../infra/build/nuget.ts'

/** A .NET program that was built into a directory of its own. */
export type DotnetProgram = { environment: NodeJS.ProcessEnv; path: string; remove(): void }

/**
 * Builds a project outside the checkout, without a build server that would stay.
 * @param more what else it is built and run with @returns why it cannot be built here: there is no .NET SDK, or none of its registries has a package that the project needs
 */
export async function buildDotnet(
  project: string,
  assembly: string,
  more: NodeJS.ProcessEnv = {},
): Promise<DotnetProgram | string> {
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  const environment = { ...dotnetEnvironment(directory), ...more }
  const dotnet = (...words: string[]) => promisify(execFile)('dotnet', words, { env: environment })
  try {
    await dotnet('--version')
  } catch {
    remove()
    return 'install it (dotnet)'
  }
  try {
    await dotnet('restore', project, '--artifacts-path', directory, '--disable-build-servers')
  } catch (error) {
    remove()
    return `its packages cannot be had: ${String((error as { stdout?: unknown }).stdout)}`
  }
  await dotnet('build', project, ...builtIn(directory), '--no-restore')
  return { environment, path: join(directory, 'bin', assembly, 'release', `${assembly}.dll`), remove }
}
