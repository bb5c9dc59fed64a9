/** The first page of the API reference: the rules that all operations share. */
export const apiPage = `An event-sourced licensing ledger for software vendors.

**Authentication.** \`Authorization: Bearer kl_pat_…\`, an access token with the scopes that each operation names. A token sees only its \
own tenant: what belongs to another one is 404, like what does not exist. Apps send the SDK key in \`X-Service-SDK-Key\` instead.

**Paging.** Lists answer \`items\` and \`nextCursor\`. Send it as \`cursor\` with the same filters until it is null. \`limit\` is 1 to 100. A list \
that has no \`cursor\` is always one page.

**Values.** Management operations use camelCase and times in ISO 8601, in UTC with milliseconds. Runtime and client operations use \
snake_case and Unix seconds. Amounts are integers in minor units, such as cents.

**Idempotency.** A POST with an \`Idempotency-Key\` runs once in 24 hours; a repetition gets the first response again, with \
\`Idempotent-Replay: true\`.

**Approvals.** Dangerous operations answer 202 with a confirmation that a person approves. Then repeat exactly the same request with its \
id in \`X-Service-Confirmation\`: it runs once.

**Dry runs.** Where an operation has the parameter \`dryRun\`, \`dryRun=true\` answers 200 with what the call would change now, and changes \
nothing. Other writes refuse it and say why.

**Errors.** Management and client operations answer \`{"error": "<message>"}\`, with a stable code in the header \`Error-Code\`. \
Operations of the runtime interface answer \`{"error": {"code", "message"}}\`. Messages are for people, codes are for programs. Every \
response has a \`Request-Id\` to quote to support.

**Limits.** \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` show what is left. 429 and 503 say in \`Retry-After\` how long \
to wait.

**Metadata.** Licenses and customers hold up to 50 pairs of text of your own; the list of licenses is filtered by them.

**Changes.** Webhooks deliver what happens to licenses, signed, and \`GET /v1/events\` lists the same in order. Each license has a \
\`history\`: who changed what, when, and by which request.

**Test licenses.** Test purchases, and sales in the test mode of a provider, make licenses with \`test: true\`. They validate like others \
and are left out of the insights.

**Versions.** Paths begin with \`/v1\`. Responses, lists of choices and error codes may gain entries, so ignore what you do not know.`
