# curl as people type it: the forms of a request that documentation shows.
# Starts a server of its own; TENSORD names the program.
set -eu
tensord=${TENSORD:-build/tensord}
dir=$(mktemp -d "${TMPDIR:-/tmp}/tensord-curl.XXXXXX")
"$tensord" --listen=127.0.0.1:0 --max_body=1M >"$dir/log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server"; cat "$dir/log"; rm -rf "$dir"' EXIT

for _ in $(seq 1 1000); do
    address=$(sed -n 's/.*"msg":"listening".*"address":"\([^"]*\)".*/\1/p' "$dir/log" | head -n 1)
    [ -z "$address" ] || break
    sleep 0.01
done
url=http://$address/v2/models/tensor_scatter_add/infer

# same WHAT WANTED FOUND
same() {
    if [ "$2" != "$3" ]; then
        printf '%s:\n  wanted %s\n  found  %s\n' "$1" "$2" "$3"
        exit 1
    fi
    echo "ok: $1"
}

answer='{"model_name":"tensor_scatter_add","model_version":"1","outputs":[{"name":"output",'
answer=$answer'"datatype":"FP32","shape":[4],"data":[1.0,12.0,3.0,24.0]}]}'
request='{"inputs":{"tensor":[1,2,3,4],"indices":[[1],[3]],"updates":[10,20]}}'

same "the short form" "$answer" "$(curl -sS "$url" -d "$request")"

printf '%s' "$request" >"$dir/request.json"
same "a file, chunked" "$answer" \
    "$(curl -sS "$url" -H 'Transfer-Encoding: chunked' --data-binary "@$dir/request.json")"

gzip -c "$dir/request.json" >"$dir/request.gz"
same "a gzip file" "$answer" \
    "$(curl -sS "$url" -H 'Content-Encoding: gzip' --data-binary "@$dir/request.gz")"

json='{"inputs":[{"name":"tensor","datatype":"FP32","shape":[2],'
json=$json'"parameters":{"binary_data_size":8}},'
json=$json'{"name":"indices","datatype":"INT32","shape":[1,1],"data":[1]},'
json=$json'{"name":"updates","datatype":"FP32","shape":[1],"data":[5]}]}'
{
    printf '%s' "$json"
    printf '\000\000\200\077\000\000\000\100'
} >"$dir/request.bin"
curl -sS "$url" -H "Inference-Header-Content-Length: ${#json}" \
    -H 'Accept: application/octet-stream' \
    --data-binary "@$dir/request.bin" >"$dir/answer.bin"
same "binary out of a shell" " 00 00 80 3f 00 00 e0 40" \
    "$(tail -c 8 "$dir/answer.bin" | od -An -tx1)"

same "an error and its status" "400" \
    "$(curl -sS -o "$dir/error" -w '%{http_code}' "$url" \
        -d '{"inputs":{"tensor":[1],"indices":[[7]],"updates":[1]}}')"
same "says where" "1" "$(grep -c 'indices\[0\] = \[7\]' "$dir/error")"
same "-f fails" "22" "$(curl -sf "$url" -d '{}' >/dev/null && echo 0 || echo $?)"

head -c 3000000 /dev/zero >"$dir/large"
same "an upload over the limit" "413" \
    "$(curl -sS -o "$dir/error" -w '%{http_code}' "$url" --data-binary "@$dir/large")"
same "without Expect too" "413" \
    "$(curl -sS -o "$dir/error" -w '%{http_code}' -H 'Expect:' "$url" --data-binary "@$dir/large")"

same "HEAD" "200" \
    "$(curl -sS -I -o "$dir/head" -w '%{http_code}' "http://$address/v2/health/ready")"

kill "$server"
trap 'cat "$dir/log"; rm -rf "$dir"' EXIT
wait "$server"
trap 'rm -rf "$dir"' EXIT
