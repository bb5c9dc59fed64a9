// Two lint rules. `Number('')` is 0: a number that a person typed, or that a variable holds, is read by src/numbers.ts.

const message = 'Read it with src/numbers.ts, which refuses what is no decimal number.'

const refuse = (...selectors) => ({
  meta: { type: 'problem', schema: [] },
  create: (context) =>
    Object.fromEntries(selectors.map((selector) => [selector, (node) => context.report({ node, message })])),
})

export const numbersFromText = refuse(
  'CallExpression[callee.name=/^(Number|parseInt|parseFloat)$/]',
  'MemberExpression[object.name="Number"][property.name=/^parse/]',
  'MemberExpression[object.name="z"][property.name="coerce"]',
  'CallExpression > Identifier.arguments[name="Number"]',
  'UnaryExpression[operator="+"]',
)

export const numbersFromVariables = refuse(
  ':matches(CallExpression[callee.name=/^(Number|parseInt|parseFloat)$/], CallExpression[callee.object.name="Number"]) MemberExpression[object.property.name="env"]',
)
