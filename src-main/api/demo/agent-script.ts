/**
 * The demo's agent: a shell script that speaks the Agent Client Protocol, so that the demo needs no model, key or
 * network. It knows the demo's tasks by their branches and looks into the worktree for what it has done before. It
 * writes within the worktree only, for which its permissions ask no one.
 */
export const agentScript = String.raw`
send() { printf '%s\n' "$1"; }
update() { send '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"demo","update":'"$1"'}}'; }
say() { update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'"$1"'\n\n"}}'; }
calls=0
edit() {
  calls=$((calls + 1))
  about='"title":"Edit '"$1"'","kind":"edit","locations":[{"path":"'"$PWD/$1"'"}],"rawInput":{"path":"'"$PWD/$1"'"}'
  update '{"sessionUpdate":"tool_call","toolCallId":"'"$calls"'","status":"completed",'"$about"'}'
}
commit() {
  git add -A
  git -c user.name="Demo agent" -c user.email=demo@localhost commit -q -m "$1" >&2
}

by_time() {
  say "I replace the greeting by one that looks at the clock."
  cat > greeting.tmp <<'EOF'
if [ "$(date +%H)" -lt 12 ]; then echo "Good morning"; else echo "Good day"; fi
EOF
  sed -e '/^echo "Welcome!"$/{r greeting.tmp
d
}' till.sh > till.tmp
  mv till.tmp till.sh && rm greeting.tmp
  edit till.sh
  commit "Greet by the time of day"
  say "Done: the till says \"Good morning\" before noon and \"Good day\" after it."
}

by_name() {
  if grep -q CUSTOMER till.sh; then
    say "The base greets by the time of day now, on the line that I changed. I merge it and keep both greetings."
    git -c user.name="Demo agent" -c user.email=demo@localhost merge -q --no-edit main >&2
    cat > greeting.tmp <<'EOF'
if [ "$(date +%H)" -lt 12 ]; then greeting="Good morning"; else greeting="Good day"; fi
echo "$greeting, $__{CUSTOMER:-friend}!"
EOF
    sed -e '/^<<<<<<< /,/^>>>>>>> /{
/^>>>>>>> /r greeting.tmp
d
}' till.sh > till.tmp
    mv till.tmp till.sh && rm greeting.tmp
    edit till.sh
    commit "Greet by name and by the time of day"
    say "Done: both greetings are one line now, and the checks pass."
    return
  fi
  say "The name comes from the environment, with a friendly word where there is none."
  sed 's/^echo "Welcome!"$/echo "Welcome, $__{CUSTOMER:-friend}!"/' till.sh > till.tmp
  mv till.tmp till.sh
  edit till.sh
  commit "Greet customers by name"
  say "Done: CUSTOMER names whom the till greets."
}

discount() {
  if grep -q DEBUG till.sh; then
    say "You are right, that line was for me only. I take it out."
    sed '/DEBUG/d' till.sh > till.tmp
    mv till.tmp till.sh
    edit till.sh
    commit "Take out the line for debugging"
    say "Done: the receipt shows nothing but items and the total."
    return
  fi
  say "The total is known after the loop, so that the discount goes there."
  sed 's/^echo "Total: /if [ "$total" -ge 1000 ]; then total=$((total * 9 \/ 10)); fi\
echo "DEBUG: total is now $total"\
echo "Total: /' till.sh > till.tmp
  mv till.tmp till.sh
  edit till.sh
  commit "Take 10 % off from 1000 cents on"
  say "Done: orders from 1000 cents on cost 10 % less."
}

currency() {
  say "The prices are in cents, but nothing says of which currency."
  options='[{"const":"EUR","title":"Euro","description":"receipts show EUR"},{"const":"USD","title":"Dollar","description":"receipts show USD"}]'
  schema='{"type":"object","properties":{"currency":{"type":"string","oneOf":'"$options"'}},"required":["currency"]}'
  send '{"jsonrpc":"2.0","id":"currency","method":"elicitation/create","params":{"sessionId":"demo","mode":"form","message":"Which currency does the shop use?","requestedSchema":'"$schema"'}}'
  IFS= read -r answer || exit 0
  case "$answer" in
    *'"EUR"'*) chosen=EUR ;;
    *'"USD"'*) chosen=USD ;;
    *) say "No one told me the currency, so I changed nothing."; return ;;
  esac
  say "Then I write $chosen behind each price."
  sed 's/^  echo "$item $price"$/  echo "$item $price '"$chosen"'"/' till.sh > till.tmp
  mv till.tmp till.sh
  edit till.sh
  commit "Show prices in $chosen"
  say "Done: each line of the receipt ends with $chosen."
}

translate() {
  say "I add one language after the other; each gets a file and a commit."
  mkdir -p translations
  for pair in de:Summe fr:Total es:Total it:Totale nl:Totaal pt:Total pl:Suma sv:Summa da:Total fi:Summa cs:Celkem hu:Összesen ro:Total tr:Toplam el:Σύνολο uk:Разом ja:合計 ko:합계 zh:总计 vi:Tổng ar:المجموع hi:कुल he:סךהכל id:Jumlah; do
    language=$__{pair%%:*}
    [ -f "translations/$language.txt" ] && continue
    sleep 6
    echo "$__{pair#*:}" > "translations/$language.txt"
    edit "translations/$language.txt"
    commit "Translate the receipt: $language"
  done
  say "Done: the receipt speaks 24 languages."
}

work() {
  case "$(git symbolic-ref --short HEAD)" in
    *greet-by-the-time*) by_time ;;
    *greet-customers*) by_name ;;
    *10-off*) discount ;;
    *currency*) currency ;;
    *translate*) translate ;;
    *) say "I know the tasks of the demo only. Choose another agent for your own." ;;
  esac
}

while IFS= read -r line; do
  id=$(printf '%s\n' "$__{line%%\"method\"*}" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*) send '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"copse-demo","version":"1"}}}' ;;
    *'"method":"session/new"'*) send '{"jsonrpc":"2.0","id":'"$id"',"result":{"sessionId":"demo"}}' ;;
    *'"method":"session/load"'*) send '{"jsonrpc":"2.0","id":'"$id"',"result":{}}' ;;
    *'"method":"session/prompt"'*)
      work
      send '{"jsonrpc":"2.0","id":'"$id"',"result":{"stopReason":"end_turn"}}'
      ;;
  esac
done
`.replaceAll('$__{', '${')
