const $ = (id) => document.getElementById(id)

/** An element with attributes and children; text is always text, never markup. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(name, value)
  element.append(...children.filter((child) => child !== undefined))
  return element
}

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
        make('h3', {}, tag),
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
  if (!operation) return
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
  form.append(make('p', {}, make('button', { type: 'submit' }, 'Try it')), answer)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    tryIt(operation, parameters, new FormData(form), answer)
  })
  $('main').replaceChildren(
    make('h2', {}, operation.operationId),
    make('p', { class: 'path' }, `${operation.method} ${operation.path}`),
    make('p', {}, make('span', { class: 'badge' }, access), make('span', { class: 'badge' }, `costs ${cost}`)),
    make('p', {}, operation.description),
    form,
    ...describeAnswers(operation),
  )
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
  return Object.entries(operation.responses).flatMap(([status, response]) => {
    const content = response.content?.['application/json']
    const parts = [make('h3', {}, status), make('p', {}, response.description)]
    if (!content?.example) return parts
    return [...parts, make('pre', {}, JSON.stringify(content.example, null, 2)), schemaTable(content.schema)]
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
    const response = await fetch(`${document.documentElement.dataset.calls}${url}`, {
      method: operation.method,
      headers,
      ...(body === null ? {} : { body }),
    })
    const text = await response.text()
    const shown = [...response.headers].filter(([name]) => /^(x-|retry|etag|idempotency|vary)/.test(name))
    answer.replaceChildren(
      make('h3', {}, `${response.status} in ${Math.round(performance.now() - began)} ms`),
      make('pre', {}, shown.map(([name, value]) => `${name}: ${value}`).join('\n')),
      make('pre', {}, pretty(text)),
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
