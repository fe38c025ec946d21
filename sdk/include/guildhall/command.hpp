// guildhall/command.hpp -- commands and scripts for C++17: the last part of guildhall.hpp, which includes it.

#ifndef GUILDHALL_COMMAND_HPP
#define GUILDHALL_COMMAND_HPP

#include "guildhall/guildhall.hpp"

namespace gh
{

// A script's text, which stays yours. Lives longer than the commands that run it.
class script
{
  public:
    explicit script(std::string_view text) noexcept { raw_.text = str(text); }
    script(const script&) = delete;
    script& operator=(const script&) = delete;
    [[nodiscard]] gh_script* get() noexcept { return &raw_; }

  private:
    gh_script raw_ = GH_ZERO;
};

// A command, or a run of a script: up to Arguments keys and arguments, ArgumentSize bytes together, which are copied;
// more are refused, as GH_INVALID_ARGUMENTS. The reply has ReplySize bytes.
template <std::size_t ReplySize = 1024, std::size_t ArgumentSize = 512, std::size_t Arguments = 16>
class command : public op<gh_command>
{
  public:
    using texts = std::initializer_list<std::string_view>;
    ~command() { detach(); }

    gh_status begin(gh_client* client, texts arguments, const gh_command_config& want = command_config()) noexcept
    {
        if (busy()) return GH_INVALID_OP;
        clear();
        keep(arguments);
        const gh_command_config config = with_memory(want);
        return gh_command_begin(get(), client, fits_ ? texts_ : nullptr, count_, &config);
    }

    gh_status run(gh_client* client, script& script, texts keys, texts arguments,
                  const gh_command_config& want = command_config()) noexcept
    {
        if (busy()) return GH_INVALID_OP;
        clear();
        keep(keys);
        keep(arguments);
        const gh_command_config config = with_memory(want);
        return gh_script_begin(get(), client, script.get(), texts_, keys.size(),
                               fits_ ? texts_ + keys.size() : nullptr, fits_ ? arguments.size() : 1, &config);
    }

    // After GH_OK and GH_ERROR, else nullptr.
    [[nodiscard]] const gh_reply* reply() const noexcept { return gh_command_reply(get()); }

  private:
    void clear() noexcept
    {
        count_ = used_ = 0;
        fits_ = true;
    }

    void keep(texts more) noexcept
    {
        for (std::string_view text : more)
        {
            fits_ = fits_ && count_ < Arguments && text.size() <= ArgumentSize - used_;
            if (!fits_) return;
            if (!text.empty()) std::memcpy(bytes_ + used_, text.data(), text.size());
            texts_[count_++] = gh_str_make(bytes_ + used_, text.size());
            used_ += text.size();
        }
    }

    gh_command_config with_memory(const gh_command_config& want) noexcept
    {
        gh_command_config config = want;
        config.reply_memory = reply_;
        config.reply_size = sizeof reply_;
        return config;
    }

    gh_str texts_[Arguments];
    std::size_t count_ = 0;
    std::size_t used_ = 0;
    bool fits_ = true;
    char bytes_[ArgumentSize];
    alignas(8) char reply_[ReplySize];
};

} // namespace gh

#endif
