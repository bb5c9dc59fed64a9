import type { Command } from 'commander'
import { ownVersion } from '../../../app/own-version.ts'
import { topCommand } from '../../context.ts'
import { type RemoteOptions, sessionOptions } from '../../remote/build.ts'
import { callServer, createClient } from '../../remote/client.ts'
import { findSession } from '../../remote/profiles.ts'

/** `keyledger mcp`: the tools for AI agents over stdin and stdout, with the token of this machine's sign-in. */
export function mcpCommand(program: Command): void {
  sessionOptions(topCommand(program, 'mcp')).action(async (options: RemoteOptions) => {
    const { server, token } = findSession(options)
    // An agent waits for each answer, and can try again itself.
    const client = createClient(server, { token, retries: 2 })
    // The protocol's library is large, and only this command needs it.
    const { serveStdio } = await import('../../../mcp/stdio.ts')
    await serveStdio(callServer(client), ownVersion())
  })
}
