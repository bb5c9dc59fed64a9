import { join } from 'node:path'
import { buildDotnet, type DotnetProgram } from '../../harness/dotnet.ts'

const name = 'Keyledger.Client.Checks'

/**
 * Builds the checks of the C# client.
 * @param framework that the client is built for @returns why they cannot be built here
 */
export async function buildChecks(framework = 'net8.0'): Promise<DotnetProgram | string> {
  const project = join(import.meta.dirname, `../../../src/sdk/csharp/checks/${name}.csproj`)
  const built = await buildDotnet(project, name, { ClientFramework: framework })
  return typeof built === 'string' ? `The client in C# is tested with the .NET SDK: ${built}` : built
}
