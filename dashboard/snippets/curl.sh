curl https://flags.example.com/sdk/v1/evaluate \
  --header "Authorization: Bearer pnk_your_key" \
  --header "Content-Type: application/json" \
  --data '{"flagKey": "new_checkout", "context": {"userId": "ada", "country": "GB"}}'
