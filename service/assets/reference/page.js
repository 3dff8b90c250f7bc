const $ = (id) => document.getElementById(id)

/** An element with attributes and children; text is always text, never markup. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(name, value)
  element.append(...children.filter((child) => child !== undefined))
  return element
}

/** Where tried calls go; not empty on the operator listener, through which nothing is changed. */
const { calls } = document.documentElement.dataset

let api
const operations = new Map()

async function start() {
  api = await (await fetch('/openapi.json')).json()
  for (const [path, item] of Object.entries(api.paths))
    for (const [method, operation] of Object.entries(item))
      operations.set(operation.operationId, { path, method: method.toUpperCase(), ...operation })
  $('find').addEventListener('input', showList)
  addEventListener('hashchange', showOperation)
  showList()
  showOperation()
}

function resolve(schema) {
  return schema?.$ref
    ? schema.$ref
        .slice(2)
        .split('/')
        .reduce((part, name) => part[name], api)
    : schema
}

function showList() {
  const wanted = $('find').value.toLowerCase()
  const groups = new Map()
  for (const operation of operations.values()) {
    const text = `${operation.operationId} ${operation.path} ${operation.summary}`.toLowerCase()
    if (!text.includes(wanted)) continue
    const [tag = 'Other'] = operation.tags ?? []
    groups.set(tag, [...(groups.get(tag) ?? []), operation])
  }
  const current = decodeURIComponent(location.hash.slice(1))
  $('list').replaceChildren(
    ...[...groups]
      .sort(([a], [b]) => a.localeCompare(b))
      .flatMap(([tag, list]) => [
        make('h2', { class: 'tag' }, tag),
        ...list.map(({ operationId }) =>
          make(
            'a',
            { href: `#${operationId}`, 'aria-current': operationId === current ? 'page' : undefined },
            operationId,
          ),
        ),
      ]),
  )
}

function showOperation() {
  showList()
  const operation = operations.get(decodeURIComponent(location.hash.slice(1)))
  if (!operation) return showStart()
  const cost = `${operation['x-cost']}${operation['x-cost-by-query'] ? ' or more' : ''}`
  const access = { public: 'no key', publishable: 'any key', secret: 'secret key' }[operation['x-access']]
  const parameters = operation.parameters.map(resolve)
  const body = operation.requestBody?.content['application/json']
  const form = make('form', {})
  if (parameters.length > 0) form.append(make('h3', {}, 'Parameters'), parameterTable(parameters))
  if (body)
    form.append(
      make('h3', {}, 'Body'),
      make(
        'textarea',
        { name: 'body', rows: 10, 'aria-label': 'Body', spellcheck: 'false' },
        JSON.stringify(body.example, null, 2),
      ),
    )
  const answer = make('div', { 'aria-live': 'polite' })
  if (calls === '' || operation.method === 'GET')
    form.append(make('p', {}, make('button', { type: 'submit' }, 'Try it')), answer)
  else form.append(make('p', {}, `Only calls that read are tried here. Send this one to ${api.servers[0].url}.`))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    tryIt(operation, parameters, new FormData(form), answer)
  })
  $('main').replaceChildren(
    make('h2', {}, operation.operationId),
    make('p', { class: 'path' }, `${operation.method} ${operation.path}`),
    make('p', {}, make('span', { class: 'badge' }, access), make('span', { class: 'badge' }, `costs ${cost}`)),
    make('p', {}, operation.description),
    ...showSamples(operation, parameters, body),
    form,
    ...describeAnswers(operation),
  )
}

/** What one does first: a key, and a call with it. */
function showStart() {
  const first = operations.get('ListOpportunities')
  $('main').replaceChildren(
    make('h2', {}, 'Start here'),
    make(
      'p',
      {},
      'Every operation of this service, as it is running now. Choose one to see what it takes and answers, and try it.',
    ),
    make('h3', {}, 'A key'),
    make(
      'p',
      {},
      'Most calls need a key in the header X-API-Key. An operator makes one for an organization: publishable keys (pk_live_…) may stand in a page, secret keys (sk_live_…) belong in a backend. The devnet writes its keys to .openearn/dev.json.',
    ),
    make(
      'pre',
      { tabindex: '0' },
      'openearn orgs create --name "My wallet"\nopenearn keys create --org ID --kind publishable',
    ),
    make('p', {}, 'Put the key into the field beside the list, and every call you try is made with it.'),
    ...(first
      ? [
          make('h3', {}, 'A first call'),
          ...showSamples(first, []),
          make('p', {}, make('a', { href: '#ListOpportunities' }, 'Try it')),
        ]
      : []),
    make('h3', {}, 'What it costs'),
    make(
      'p',
      {},
      'Each operation costs units of the key’s hour. X-RateLimit-Remaining tells what is left, X-Request-Cost what the call cost.',
    ),
  )
}

/** The call in curl and in TypeScript; BASE is the address of the API, KEY the key. */
function showSamples(operation, parameters, body) {
  let path = operation.path
  const query = new URLSearchParams()
  for (const { in: place, name, required, example } of parameters) {
    if (!required) continue
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(example ?? name))
    if (place === 'query') query.append(name, example ?? '')
  }
  const url = `${path}${query.size > 0 ? `?${query}` : ''}`
  const keyed = operation['x-access'] !== 'public'
  const json = body ? JSON.stringify(body.example, null, 2) : undefined
  const curl = [
    `curl -s "$BASE${url}"`,
    ...(keyed ? ['-H "X-API-Key: $KEY"'] : []),
    ...(json ? ["-H 'Content-Type: application/json'", `-d '${json}'`] : []),
  ]
  const headers = [
    ...(keyed ? ["    'X-API-Key': key,"] : []),
    ...(json ? ["    'Content-Type': 'application/json',"] : []),
  ]
  const typescript = [
    `const answer = await fetch(\`\${base}${url}\`, {`,
    ...(operation.method === 'GET' ? [] : [`  method: '${operation.method}',`]),
    ...(headers.length > 0 ? ['  headers: {', ...headers, '  },'] : []),
    ...(json ? [`  body: JSON.stringify(${json.replaceAll('\n', '\n  ')}),`] : []),
    '})',
    'const body = await answer.json()',
    'if (!answer.ok) throw new Error(body.reason ?? body.error)',
  ]
  return [
    make('h3', {}, 'curl'),
    make('pre', { tabindex: '0' }, curl.join(' \\\n  ')),
    make('h3', {}, 'TypeScript'),
    make('pre', { tabindex: '0' }, typescript.join('\n')),
  ]
}

function parameterTable(parameters) {
  return make(
    'table',
    {},
    ...parameters.map((parameter) =>
      make(
        'tr',
        {},
        make('td', {}, make('code', { class: parameter.required ? 'required' : undefined }, parameter.name)),
        make(
          'td',
          {},
          make('input', {
            name: `${parameter.in}:${parameter.name}`,
            'aria-label': parameter.name,
            placeholder: parameter.example ?? '',
            required: parameter.required ? '' : undefined,
            value: parameter.required ? parameter.example : undefined,
          }),
        ),
        make('td', {}, `${typeOf(parameter.schema)}. ${parameter.description ?? ''}`),
      ),
    ),
  )
}

function typeOf(schema) {
  const found = resolve(schema)
  if (found.enum) return found.enum.map(String).join(' | ')
  if (found.anyOf) return found.anyOf.map(typeOf).join(' | ')
  if (found.type === 'array') return `list of ${typeOf(found.items)}`
  return schema.$ref?.split('/').at(-1) ?? found.type ?? 'anything'
}

function describeAnswers(operation) {
  return Object.entries(operation.responses).flatMap(([status, given]) => {
    const response = resolve(given)
    const content = response.content?.['application/json']
    const parts = [make('h3', {}, status), make('p', {}, response.description)]
    if (!content?.example) return parts
    return [
      ...parts,
      make('pre', { tabindex: '0' }, JSON.stringify(content.example, null, 2)),
      schemaTable(content.schema),
    ]
  })
}

function schemaTable(schema) {
  const rows = []
  const walk = (part, place, depth) => {
    const found = resolve(part)
    if (found.items) return walk(found.items, `${place}[]`, depth)
    for (const one of found.anyOf ?? []) walk(one, place, depth)
    if (depth > 6) return
    for (const [name, member] of Object.entries(found.properties ?? {})) {
      const at = place ? `${place}.${name}` : name
      const optional = found.required?.includes(name) ? '' : ' (may be absent)'
      rows.push(
        make(
          'tr',
          {},
          make('td', {}, make('code', {}, at)),
          make('td', {}, `${typeOf(member)}${optional}`),
          make('td', {}, resolve(member).description ?? member.description ?? ''),
        ),
      )
      walk(member, at, depth + 1)
    }
  }
  walk(schema, '', 0)
  return make('table', {}, ...rows)
}

async function tryIt(operation, parameters, data, answer) {
  let path = operation.path
  const query = new URLSearchParams()
  const headers = {}
  for (const { in: place, name } of parameters) {
    const value = String(data.get(`${place}:${name}`) ?? '')
    if (value === '') continue
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value))
    else if (place === 'query') query.append(name, value)
    else headers[name] = value
  }
  if ($('key').value) headers['X-API-Key'] = $('key').value.trim()
  const body = data.get('body')
  if (body !== null) headers['Content-Type'] = 'application/json'
  const search = query.size > 0 ? `?${query}` : ''
  const url = `${path}${search}`
  answer.replaceChildren(make('p', {}, `${operation.method} ${url} …`))
  const began = performance.now()
  try {
    const response = await fetch(`${calls}${url}`, {
      method: operation.method,
      headers,
      ...(body === null ? {} : { body }),
    })
    const text = await response.text()
    const shown = [...response.headers].filter(([name]) => /^(x-|retry|etag|idempotency|vary)/.test(name))
    answer.replaceChildren(
      make('h3', {}, `${response.status} in ${Math.round(performance.now() - began)} ms`),
      make('pre', { tabindex: '0' }, shown.map(([name, value]) => `${name}: ${value}`).join('\n')),
      make('pre', { tabindex: '0' }, pretty(text)),
    )
  } catch (error) {
    answer.replaceChildren(make('p', {}, `No answer: ${error}`))
  }
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

start()
