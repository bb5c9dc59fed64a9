// Imports go one way. What each folder may know of the others is said in docs/decisions and enforced here.
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
      'only-bin-starts-tracing',
      'It is loaded only where traces are on.',
      { path: '^(src|projections)/', pathNot: '^src/(bin|tracing)/' },
      { path: '^src/tracing/start' },
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
          '^src/(http|bin|commands|vault|webhooks|usage|idempotency)/',
          '^node_modules/pg/',
        ],
      },
    ),
    only(
      'projections-know-events-and-postgres',
      'They are folded from events, and read by whoever asks.',
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
      'the-sdk-stands-alone',
      'It runs in apps: noble and itself, nothing of Node or of the server.',
      { path: '^src/sdk/' },
      { pathNot: ['^src/sdk/', '^node_modules/@noble/'] },
    ),
    only(
      'only-tests-use-the-sdk',
      'It is a second implementation, so that neither can be wrong alone.',
      { path: '^(src/(?!sdk/)|projections/)' },
      { path: ['^src/sdk/', '^node_modules/@noble/'] },
    ),
    only(
      'http-has-no-client-of-a-store',
      'Edges use commands, queries and the vault.',
      { path: '^src/http/' },
      { path: ['^node_modules/(@eventstore|nats|@grpc)/', '^infra/', '^src/bin/'] },
    ),
    only(
      'commands-know-no-edge',
      'The same command serves HTTP, the command line and reactions.',
      {
        path: '^src/(access|commands|credentials|vault|usage|gate|mail|reactions|limits|idempotency|story)/',
      },
      { path: ['^src/(http|bin)/', '^infra/'] },
    ),
    only(
      'nobody-imports-bin',
      'It is where everything is put together.',
      { pathNot: '^(src/bin|test|bench|chaos|bin)/' },
      {
        path: '^src/bin/',
      },
    ),
    only(
      'infra-stands-alone',
      'The embedded stack knows nothing of the product.',
      { path: '^infra/' },
      {
        path: '^(src|projections|test|bench|chaos)/',
      },
    ),
    only('nothing-unresolvable', 'An import must lead somewhere.', {}, { couldNotResolve: true }),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Compiled and run beside the client that its test generates.
    exclude: { path: '^test/flows/typed-client/journey.ts$' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
