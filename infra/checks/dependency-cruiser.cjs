// Imports go one way. What each folder may know of the others is said in docs/decisions/code.md and enforced here.
const only = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

module.exports = {
  forbidden: [
    only('no-cycles', 'A cycle has no order to read it in.', {}, { circular: true }),
    only(
      'domain-is-pure',
      'The domain imports zod and itself.',
      { path: '^src/domain/' },
      { pathNot: ['^src/domain/', '^node_modules/zod/'] },
    ),
    only(
      'only-the-ledger-knows-eventstoredb',
      'Everything else goes through the ledger, so that there is one client a process.',
      { path: '^(src|projections)/', pathNot: '^src/ledger/' },
      { path: '^node_modules/@eventstore/' },
    ),
    only(
      'only-webhooks-know-nats',
      'The feed is a port of the dispatcher.',
      { path: '^(src|projections)/', pathNot: '^src/webhooks/' },
      { path: '^node_modules/nats/' },
    ),
    only(
      'only-mail-knows-how-mail-is-sent',
      'Everybody else writes a mail and hands it over.',
      { path: '^(src|projections)/', pathNot: '^src/mail/' },
      { path: '^node_modules/nodemailer/' },
    ),
    only(
      'only-tracing-knows-opentelemetry',
      'Everybody else shows work through the port, which may be absent.',
      { path: '^(src|projections)/', pathNot: '^src/tracing/' },
      { path: '^node_modules/@opentelemetry/' },
    ),
    only(
      'only-the-application-starts-tracing',
      'It is loaded only where traces are on.',
      { path: '^(src|projections)/', pathNot: '^src/(app|tracing)/' },
      { path: '^src/tracing/start' },
    ),
    only(
      'only-access-knows-openid-connect',
      'Everybody else asks its port who a person is.',
      { path: '^(src|projections)/', pathNot: '^src/access/' },
      { path: '^node_modules/(openid-client|jose)/' },
    ),
    only(
      'only-scim-reads-filters',
      'Everybody else speaks of users and groups.',
      { path: '^(src|projections)/', pathNot: '^src/api/scim/' },
      { path: '^node_modules/scim2-parse-filter/' },
    ),
    only(
      'only-payments-know-the-providers',
      'Each provider has one folder, and everybody else speaks of payments.',
      { path: '^(src|projections)/', pathNot: '^src/payments/' },
      { path: '^node_modules/(stripe|@paddle|@polar-sh|standardwebhooks)/' },
    ),
    only(
      'payments-know-the-domain-alone',
      'They ask and translate; what follows is for commands.',
      { path: '^src/payments/' },
      { path: '^(projections/|src/(?!payments/|domain/))' },
    ),
    only(
      'the-ledger-knows-no-read-model',
      'Waiting for the read models is given to it.',
      { path: '^src/ledger/' },
      {
        path: [
          '^projections/',
          '^src/(api|app|cli|commands|dashboard|http|idempotency|sales|usage|vault|webhooks)/',
          '^node_modules/pg/',
        ],
      },
    ),
    only(
      'projections-know-events-and-postgres',
      'They are built from events, and every other folder may query them.',
      { path: '^projections/' },
      { path: '^(src/(?!(?:domain|async)/)|infra/)' },
    ),
    only(
      'async-helpers-stand-alone',
      'They know nothing of licensing: any part of the project may use them.',
      { path: '^src/async/' },
      { path: '^(src/(?!async/)|projections/|infra/)' },
    ),
    only(
      'files-stand-alone',
      'They know nothing of licensing: the ledger, witnesses and relays keep files with them.',
      { path: '^src/files/' },
      { pathNot: ['^src/files/', '^(fs|path|sqlite|node:sqlite)$'] },
    ),
    only(
      'bare-http-stands-alone',
      'Witnesses and relays serve with it: a few routes, without a framework.',
      { path: '^src/bare-http/' },
      { pathNot: ['^src/bare-http/', '^(events|http|net)$'] },
    ),
    only(
      'http-is-not-imported',
      'src/bare-http/node-http.ts says why, and gives it to all.',
      { path: '^(src|projections|infra/local)/' },
      { path: '^https?$', dependencyTypesNot: ['type-only'] },
    ),
    only(
      'transparency-stands-alone',
      'Its formats are public ones, and a verifier needs nothing else.',
      { path: '^src/transparency/' },
      { pathNot: ['^src/transparency/', '^node_modules/canonicalize/', '^crypto$'] },
    ),
    only(
      'the-verifier-needs-nothing-of-the-ledger',
      'It checks files with public keys, and one file of it works on its own.',
      { path: '^src/verifier/' },
      {
        pathNot: [
          '^src/(verifier|transparency)/',
          '^src/numbers[.]ts$',
          '^(crypto|fs|fs/promises|path|url|util|zlib)$',
        ],
      },
    ),
    only(
      'the-witness-needs-nothing-of-the-ledger',
      'It runs on machines that have no ledger.',
      { path: '^src/witness/' },
      {
        path: [
          '^(projections|infra)/',
          '^node_modules/',
          '^src/(?!witness/|transparency/|files/|bare-http/)',
        ],
      },
    ),
    only(
      'the-relay-needs-no-store',
      'It runs in networks that have no ledger: rules, signatures and the words of the client interface, and SQLite.',
      { path: '^src/relay/' },
      {
        path: [
          '^(projections|infra)/',
          '^node_modules/(?!zod/|canonicalize/)',
          '^src/(?!relay/|domain/|signing/|credentials/|async/|files/|bare-http/|html[.]ts|numbers[.]ts|access/password[.]ts|api/client/(?:schemas|refusals|origins)[.]ts|http/(?:problem[.]ts|icon/|licenses/)|portal/portal[.]css)',
        ],
      },
    ),
    only(
      'only-the-command-line-runs-a-relay',
      'It is a program of its own.',
      { path: '^(src|projections)/', pathNot: '^src/(relay|cli)/' },
      { path: '^src/relay/' },
    ),
    only(
      'the-sdk-stands-alone',
      'It runs in apps: noble and itself, nothing of Node or of the server.',
      { path: '^src/sdk/javascript/(?!node/)' },
      { pathNot: ['^src/sdk/javascript/(?!node/)', '^node_modules/@noble/'] },
    ),
    only(
      'the-sdk-for-node-stands-alone',
      'It adds to the client for apps what needs Node: a file, the ids of the machine, and the relays of its network.',
      { path: '^src/sdk/javascript/node/' },
      {
        pathNot: [
          '^src/sdk/javascript/',
          '^(child_process|crypto|dns/promises|fs|fs/promises|os|path|util)$',
        ],
      },
    ),
    only(
      'the-app-client-stays-small',
      'It is part of every app; the server client is not.',
      { path: '^src/sdk/javascript/app/' },
      { path: '^src/sdk/javascript/server/' },
    ),
    only(
      'only-tests-use-the-sdk',
      'It is a second implementation, so that neither can be wrong alone.',
      { path: '^(src/(?!sdk/)|projections/)' },
      { path: ['^src/sdk/', '^node_modules/@noble/'] },
    ),
    only(
      'edges-have-no-client-of-a-store',
      'They use commands, queries and the vault.',
      { path: '^src/(api|dashboard|http|portal)/' },
      { path: ['^node_modules/(@eventstore|nats|@grpc)/', '^infra/'] },
    ),
    only(
      'commands-know-no-edge',
      'The same command serves HTTP, the command line and the process managers.',
      {
        path: '^src/(access|async|backup|commands|credentials|evidence|freeze|gate|history|idempotency|ledger|limits|mail|notary|payments|reactions|sales|search|signing|tracing|usage|vault|verdicts|webhooks)/',
      },
      { path: ['^src/(api|app|cli|dashboard|http|portal|terminal)/', '^infra/'] },
    ),
    only(
      'imports-know-no-interface',
      'The command line says what is imported, and shows what became of it.',
      { path: '^src/import/' },
      { path: '^(src/(api|app|cli|dashboard|terminal)/|infra/)' },
    ),
    only(
      'sources-are-pure',
      'They translate what was read, and neither read nor write.',
      { path: '^src/import/(sources|plan)/' },
      { path: '^(projections/(?!products/queries)|src/(ledger|vault)/|node_modules/pg/)' },
    ),
    only(
      'http-is-shared-by-api-and-dashboard',
      'It holds what both use, and knows neither.',
      { path: '^src/http/' },
      { path: '^src/(api|dashboard|portal)/' },
    ),
    only(
      'api-does-not-know-the-dashboard',
      'What both use belongs to src/http.',
      { path: '^src/api/' },
      { path: '^src/dashboard/' },
    ),
    only(
      'the-description-stands-alone',
      'Remote commands and tools load it, and start without the server.',
      { path: '^src/description/' },
      { path: '^(projections/|infra/|node_modules/|src/(?!description/))' },
    ),
    only(
      'agents-use-the-management-interface',
      'Their tools send requests, so that every check of the interface holds for them.',
      { path: '^src/mcp/' },
      { path: ['^projections/', '^infra/', '^src/(?!mcp/|description/|http/problem|domain/input-words)'] },
    ),
    only(
      'only-mcp-knows-its-protocol',
      'Everybody else hands it a way to send requests.',
      { path: '^(src|projections)/', pathNot: '^src/mcp/' },
      { path: '^node_modules/@modelcontextprotocol/' },
    ),
    only(
      'the-portal-knows-no-other-edge',
      'Customers see nothing that is made for vendors; what pages share belongs to src/http.',
      { path: '^src/portal/' },
      { path: '^src/(api|dashboard)/' },
    ),
    only(
      'no-edge-knows-the-portal',
      'It is a separate application for other people.',
      { path: '^src/(api|dashboard)/' },
      { path: '^src/portal/' },
    ),
    only(
      'dashboard-does-not-know-the-api',
      'What both use belongs to src/http.',
      { path: '^src/dashboard/' },
      { path: '^src/api/' },
    ),
    only(
      'nobody-imports-the-application',
      'It is where everything is put together. Only the command line starts it.',
      { pathNot: '^(src/(app|cli)|test)/' },
      { path: '^src/app/' },
    ),
    only(
      'nobody-imports-the-command-line',
      'It is the outermost part.',
      { pathNot: '^(src/cli|test|bin)/' },
      { path: '^src/cli/' },
    ),
    only(
      'remote-commands-know-no-store',
      'They call a server from any machine, and start without loading a client of a store.',
      { path: '^src/cli/(remote/|commands/remote/)' },
      {
        path: '^(projections/|infra/|src/(?!(?:cli/(?:remote/|commands/remote/|context|empty|host-form)|mcp/(?!route|in-process)|description/|terminal/|domain/|async/|numbers[.]ts|app/own-version|webhooks/(?:signature|sample-payloads|payloads)|credentials/(?:id|webhook-secret))))',
      },
    ),
    only(
      'infra-stands-alone',
      'The embedded stack knows nothing of the product.',
      { path: '^infra/', pathNot: '^infra/build/' },
      { path: '^(src|projections|test)/' },
    ),
    only('nothing-unresolvable', 'An import must lead somewhere.', {}, { couldNotResolve: true }),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Compiled and run beside the client that its test generates.
    exclude: { path: '^test/flows/typed-client/(?:journey|program|additions/.*)[.]ts$' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
