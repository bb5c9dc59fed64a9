import type { HostForm } from './context.ts'

/** The commands that both the host and a server have. With `--tenant` they open the stores of this host. */
export const hostForms: Readonly<Record<string, HostForm>> = {
  'sales list': {
    options: [
      ['--parked', 'on the host: only sales that are paid but have no license yet'],
      ['--needs-holder', 'on the host: only sales whose license has neither an email address nor a customer'],
    ],
    load: async () => (await import('./commands/sales.ts')).listOnHost,
  },
  'sales show': { options: [], load: async () => (await import('./commands/sales.ts')).showOnHost },
  'sales replay': { options: [], load: async () => (await import('./commands/sales.ts')).replayOnHost },
  'licenses show': {
    options: [],
    load: async () => (await import('./commands/licenses/view.ts')).showOnHost,
  },
  'licenses revoke': {
    options: [],
    load: async () => (await import('./commands/licenses/view.ts')).revokeOnHost,
  },
  'licenses history': {
    options: [],
    load: async () => (await import('./commands/licenses/history.ts')).historyOnHost,
  },
  'licenses explain': {
    options: [],
    load: async () => (await import('./commands/licenses/history.ts')).explainOnHost,
  },
  'licenses diff': {
    options: [],
    load: async () => (await import('./commands/licenses/history.ts')).diffOnHost,
  },
  'licenses evidence': {
    options: [],
    load: async () => (await import('./commands/licenses/evidence.ts')).evidenceOnHost,
  },
  'integrations connect': {
    options: [
      ['--secrets', 'on the host: read the webhook secret and, on a second line, the API key from stdin'],
    ],
    load: async () => (await import('./commands/integrations.ts')).connectOnHost,
  },
  'sdk-key show': { options: [], load: async () => (await import('./commands/keys.ts')).showSdkKeyOnHost },
}
