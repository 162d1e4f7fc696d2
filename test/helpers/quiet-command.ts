/** A command that calls its task over REST with its run's token, and prints nothing. */
export function quietly(what: 'verdict' | 'transition' | 'comments', body: Readonly<Record<string, unknown>>): string {
  const send = `
    const { SVC_API_URL, SVC_API_TOKEN, SVC_TASK_ID } = process.env;
    const headers = { authorization: "Bearer " + SVC_API_TOKEN, "content-type": "application/json" };
    const url = SVC_API_URL + "/api/v1/tasks/" + SVC_TASK_ID + "/${what}";
    fetch(url, { method: "POST", headers, body: ${JSON.stringify(JSON.stringify(body))} })
      .then((response) => { if (!response.ok) process.exit(9) })`
  return `'${process.execPath}' -e '${send}'`
}
