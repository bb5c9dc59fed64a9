import type { Command } from 'commander'
import { ownVersion } from '../../../app/own-version.ts'
import { serveStdio } from '../../../mcp/stdio.ts'
import { callServer } from '../../remote/agent-calls.ts'
import { createClient } from '../../remote/client.ts'
import { type RemoteOptions, sessionOptions } from '../../remote/run.ts'
import { findSession } from '../../remote/session.ts'

/** `keyledger mcp`: the tools for AI agents over stdin and stdout, with the token of this machine's sign-in. */
export function mcpCommand(program: Command): void {
  sessionOptions(
    program
      .command('mcp')
      .description('Serve the tools for AI agents on stdin and stdout (Model Context Protocol)'),
  ).action(async (options: RemoteOptions) => {
    const { server, token } = findSession(options)
    // An agent waits for each answer, and can try again itself.
    const client = createClient(server, { token, retries: 2 })
    await serveStdio(callServer(client), ownVersion())
  })
}
